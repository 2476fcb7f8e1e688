"""assert_close: equal within a tolerance, with a message that says where not."""

import _terra_C as C

# dtype: (relative, absolute)
TOLERANCES = {
    C.float16: (1e-3, 1e-5), C.bfloat16: (1.6e-2, 1e-5), C.float32: (1.3e-6, 1e-5), C.float64: (1e-7, 1e-7),
    C.complex32: (1e-3, 1e-5), C.complex64: (1.3e-6, 1e-5), C.complex128: (1e-7, 1e-7),
}  # fmt: skip


def assert_close(
    actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
    check_dtype=True, check_layout=True, check_stride=False, msg=None,
):  # fmt: skip
    """Raises AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere. Sequences and mappings
    are compared item by item."""
    if (rtol is None) != (atol is None):
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or unspecified, but got no {'rtol' if rtol is None else 'atol'}.")
    options = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan, "check_dtype": check_dtype, "check_stride": check_stride}
    problem = _difference(actual, expected, options)
    if problem:
        raise AssertionError(msg(problem) if callable(msg) else msg or problem)


def _difference(actual, expected, options, where=""):
    """What differs, or None."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        if actual.keys() != expected.keys():
            missing, extra = sorted(expected.keys() - actual.keys(), key=str), sorted(actual.keys() - expected.keys(), key=str)
            return f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {missing}\nAdditional keys in the actual mapping: {extra}"
        pairs = [(f"[{key!r}]", actual[key], expected[key]) for key in expected]
    elif isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
        pairs = [(f"[{i}]", a, e) for i, (a, e) in enumerate(zip(actual, expected))]
    else:
        return _tensor_difference(actual, expected, options, where)
    for place, a, e in pairs:
        problem = _difference(a, e, options, where + place)
        if problem:
            return problem
    return None


def _tensor_difference(actual, expected, options, where):
    item = f"\n\nThe failure occurred for item {where}" if where else ""
    if expected is None or actual is None:
        return None if actual is expected else f"None mismatch: {actual} is not {expected}{item}"
    scalars = not isinstance(actual, C.Tensor) and not isinstance(expected, C.Tensor)
    a, e = C.as_tensor(actual).detach(), C.as_tensor(expected).detach()
    if a.shape != e.shape:
        return f"The values for attribute 'shape' do not match: {a.shape} != {e.shape}.{item}"
    if options["check_dtype"] and a.dtype != e.dtype:
        return f"The values for attribute 'dtype' do not match: {a.dtype} != {e.dtype}.{item}"
    if options["check_stride"] and a.stride() != e.stride():
        return f"The values for attribute 'stride()' do not match: {a.stride()} != {e.stride()}.{item}"
    rtol, atol = options["rtol"], options["atol"]
    if rtol is None:
        limits = [TOLERANCES.get(t.dtype, (0.0, 0.0)) for t in (a, e)]
        rtol, atol = max(r for r, _ in limits), max(t for _, t in limits)
    wide = C.complex128 if a.is_complex() or e.is_complex() else C.float64
    a, e = a.to(wide), e.to(wide)
    gap = (a - e).abs()
    close = (a == e) | (gap <= atol + rtol * e.abs()) & e.isfinite()
    if options["equal_nan"]:
        close = close | (a.isnan() & e.isnan())
    if close.all():
        return None
    if scalars:
        return f"Scalars are not close!\n\nExpected {expected} but got {actual}.\n{_scalar_gaps(gap, e, atol, rtol)}{item}"
    return "Tensor-likes are not close!\n\n" + _report(close, gap, e, atol, rtol) + item


def _scalar_gaps(gap, expected, atol, rtol):
    absolute, relative = gap.item(), (gap / expected.abs()).item()
    return f"Absolute difference: {absolute} (up to {atol} allowed)\nRelative difference: {relative} (up to {rtol} allowed)"


def _report(close, gap, expected, atol, rtol):
    wrong, total = int((~close).sum().item()), close.numel()
    relative = gap / expected.abs()
    lines = [f"Mismatched elements: {wrong} / {total} ({wrong / total * 100:.1f}%)"]
    for name, values, limit in (("absolute", gap, atol), ("relative", relative, rtol)):
        values = values.masked_fill(close, 0.0).flatten()
        at = int(values.argmax().item())
        place, rest = [], at
        for size in reversed(close.shape):
            place.append(rest % size)
            rest //= size
        lines.append(f"Greatest {name} difference: {values[at].item()} at index {tuple(place[::-1])} (up to {limit} allowed)")
    return "\n".join(lines)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """The old form: dtypes may differ, and NaNs are equal."""
    if not isinstance(actual, C.Tensor):
        actual = C.tensor(actual)
    if not isinstance(expected, C.Tensor):
        expected = C.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        limits = [_OLD_TOLERANCES.get(t.dtype, (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = max(r for r, _ in limits), max(a for _, a in limits)
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


_OLD_TOLERANCES = {C.float16: (1e-3, 1e-3), C.float32: (1e-4, 1e-5), C.float64: (1e-5, 1e-8)}


def make_tensor(*shape, dtype, device="cpu", low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False, memory_format=None):
    """Random values from low to high: -9 to 9 of numbers, 0 to 9 of uint8, either of bool."""
    shape = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    if dtype == C.bool:
        return C.randint(0, 2, shape).to(dtype)
    low = (0 if dtype == C.uint8 else -9) if low is None else low
    high = 9 if high is None else high
    if dtype.is_complex:
        result = C.view_as_complex(make_tensor(*shape, 2, dtype=dtype.to_real(), low=low, high=high))
    elif dtype.is_floating_point:
        result = (C.rand(shape, dtype=C.float64) * (high - low) + low).to(dtype)
    else:
        result = C.randint(int(low), max(int(high), int(low) + 1), shape).to(dtype)
    if exclude_zero:
        result = result.masked_fill(result == 0, 1)
    if noncontiguous and result.numel() > 1:
        result = C.stack([result, result], -1)[..., 0]
    return result.requires_grad_() if requires_grad else result
