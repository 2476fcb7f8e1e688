"""assert_close: equal within a tolerance, with a message that says where not.

Sequences and mappings are taken apart; what is left are pairs, of which the first kind that knows both sides compares
them: nothing, truth values, numbers, and what is like a tensor."""

import cmath
import math
import warnings
from collections.abc import Mapping, Sequence

import _terra_C as C

# dtype: (relative, absolute)
TOLERANCES = {
    C.float16: (1e-3, 1e-5), C.bfloat16: (1.6e-2, 1e-5), C.float32: (1.3e-6, 1e-5), C.float64: (1e-7, 1e-7),
    C.complex32: (1e-3, 1e-5), C.complex64: (1.3e-6, 1e-5), C.complex128: (1e-7, 1e-7),
}  # fmt: skip
_DTYPE_OF_NUMBERS = {int: C.int64, float: C.float64, complex: C.complex128}
# The parts of a sparse tensor, which are compared one after the other.
_PARTS = {
    "torch.sparse_coo": ("COO", ("indices", "values")),
    "torch.sparse_csr": ("CSR", ("crow_indices", "col_indices", "values")),
    "torch.sparse_csc": ("CSC", ("ccol_indices", "row_indices", "values")),
}


def assert_close(
    actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
    check_dtype=True, check_layout=True, check_stride=False, msg=None,
):  # fmt: skip
    """Raises AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere. Sequences and mappings
    are compared item by item."""
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    options = {
        "allow_subclasses": allow_subclasses, "rtol": rtol, "atol": atol, "equal_nan": equal_nan,
        "check_device": check_device, "check_dtype": check_dtype, "check_layout": check_layout, "check_stride": check_stride,
    }  # fmt: skip
    pairs = []
    problem = _pair_up(actual, expected, options, "", pairs)
    for compare, left, right, where in pairs:
        if problem:
            break
        problem = compare(left, right, options)
        if problem and where:
            problem += f"\n\nThe failure occurred for item {where}"
    if problem:
        raise AssertionError(msg(problem) if callable(msg) else msg or problem)


def _pair_up(actual, expected, options, where, pairs):
    """Adds (comparison, actual, expected, place) for all that is inside; returns what keeps it from being paired."""
    item = f"\n\nThe failure occurred for item {where}" if where else ""
    if all([isinstance(side, Sequence) and not isinstance(side, str) for side in (actual, expected)]):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{item}"
        inside = [(i, actual[i], expected[i]) for i in range(len(expected))]
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            missing = sorted(expected.keys() - actual.keys(), key=str)
            extra = sorted(actual.keys() - expected.keys(), key=str)
            return (
                f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {missing}\n"
                f"Additional keys in the actual mapping: {extra}{item}"
            )
        try:
            keys = sorted(expected)
        except TypeError:
            keys = list(expected)
        inside = [(key, actual[key], expected[key]) for key in keys]
    else:
        pairs.append((*_comparison(actual, expected, options), where))
        return None
    for key, left, right in inside:
        problem = _pair_up(left, right, options, f"{where}[{key!r}]", pairs)
        if problem:
            return problem
    return None


def _plain(value):
    """A number of numpy's as Python's."""
    is_number = type(value).__module__ == "numpy" and type(value).__name__ != "ndarray" and hasattr(value, "item")
    return value.item() if is_number else value


def _comparison(actual, expected, options):
    if actual is None or expected is None:
        return _differs_in_none, actual, expected
    left, right = _plain(actual), _plain(expected)
    if isinstance(left, bool) and isinstance(right, bool):
        return _differs_in_truth, left, right
    if type(left) in _DTYPE_OF_NUMBERS and type(right) in _DTYPE_OF_NUMBERS:
        return _differs_in_number, left, right
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    if related and not isinstance(left, bool) and not isinstance(right, bool) and (options["allow_subclasses"] or type(actual) is type(expected)):
        try:
            return _differs_in_tensor, _as_tensor(actual), _as_tensor(expected)
        except (TypeError, ValueError, RuntimeError):
            pass
    raise TypeError(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.")


def _as_tensor(value):
    return value if isinstance(value, C.Tensor) or hasattr(value, "layout") else C.as_tensor(value)


def _differs_in_none(actual, expected, options):
    return None if actual is expected else f"None mismatch: {actual} is not {expected}"


def _differs_in_truth(actual, expected, options):
    return None if actual is expected else f"Booleans mismatch: {actual} is not {expected}"


def _tolerances(options, dtypes):
    if options["rtol"] is not None:
        return options["rtol"], options["atol"]
    limits = [TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
    return max([r for r, _ in limits]), max([a for _, a in limits])


def _differs_in_number(actual, expected, options):
    if options["check_dtype"] and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}."
    rtol, atol = _tolerances(options, (_DTYPE_OF_NUMBERS[type(actual)], _DTYPE_OF_NUMBERS[type(expected)]))
    gap = abs(actual - expected)
    if actual == expected or (options["equal_nan"] and cmath.isnan(actual) and cmath.isnan(expected)):
        return None
    if math.isfinite(gap) and gap <= atol + rtol * abs(expected):
        return None
    return _scalars_differ("Scalars", actual, expected, rtol, atol)


def _differs_in_tensor(actual, expected, options):
    if actual.shape != expected.shape:
        return _attributes_differ("shape", actual.shape, expected.shape)
    if actual.layout != expected.layout:
        if options["check_layout"]:
            return _attributes_differ("layout", actual.layout, expected.layout)
    elif options["check_stride"] and str(actual.layout) not in _PARTS and actual.stride() != expected.stride():
        return _attributes_differ("stride()", actual.stride(), expected.stride())
    if options["check_device"] and actual.device != expected.device:
        return _attributes_differ("device", actual.device, expected.device)
    if options["check_dtype"] and actual.dtype != expected.dtype:
        return _attributes_differ("dtype", actual.dtype, expected.dtype)
    rtol, atol = _tolerances(options, (actual.dtype, expected.dtype))
    actual, expected = actual.detach(), expected.detach()
    if actual.device.type == "meta" or expected.device.type == "meta":
        return None
    if actual.dtype != expected.dtype:
        common = C.promote_types(actual.dtype, expected.dtype)
        actual, expected = actual.to(common), expected.to(common)
    if actual.layout != expected.layout:
        actual, expected = actual.to_dense(), expected.to_dense()
    if str(actual.layout) not in _PARTS:
        return _values_differ("Tensor-likes", actual, expected, rtol, atol, options["equal_nan"])
    name, parts = _PARTS[str(actual.layout)]
    if actual._nnz() != expected._nnz():
        return (
            f"The number of specified values in sparse {name} tensors does not match: {actual._nnz()} != {expected._nnz()}"
        )
    if name == "COO":
        actual, expected = actual.coalesce(), expected.coalesce()
    for part in parts:
        limits = (rtol, atol) if part == "values" else (0, 0)
        left, right = getattr(actual, part)(), getattr(expected, part)()
        problem = _values_differ(f"Sparse {name} {part}", left, right, *limits, options["equal_nan"])
        if problem:
            return problem
    return None


def _attributes_differ(name, actual, expected):
    return f"The values for attribute '{name}' do not match: {actual} != {expected}."


def _values_differ(name, actual, expected, rtol, atol, equal_nan):
    close = C.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if close.all():
        return None
    if actual.dim() == 0:
        name = "Scalars" if name == "Tensor-likes" else name
        return _scalars_differ(name, actual.item(), expected.item(), rtol, atol)
    wrong, total = int((~close).sum().item()), close.numel()
    if not (actual.is_floating_point() or actual.is_complex()):
        actual, expected = actual.to(C.int64), expected.to(C.int64)
    gap = (actual - expected).abs()
    relative = gap / expected.abs()
    exact = rtol == 0 and atol == 0
    lines = [f"{name} are not {'equal' if exact else 'close'}!\n", f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})"]
    for kind, values, limit in (("absolute", gap, atol), ("relative", relative, rtol)):
        values = values.masked_fill(close, 0).flatten()
        greatest, at = C.max(values, 0)
        place, rest = [], int(at.item())
        for size in reversed(close.shape):
            place.append(rest % size)
            rest //= size
        allowed = "" if exact else f" (up to {limit} allowed)"
        lines.append(f"Greatest {kind} difference: {greatest.item()} at index {tuple(place[::-1])}{allowed}")
    return "\n".join(lines)


def _scalars_differ(name, actual, expected, rtol, atol):
    exact = rtol == 0 and atol == 0
    absolute = abs(actual - expected)
    relative = math.inf if expected == 0 else absolute / abs(expected)
    lines = [f"{name} are not {'equal' if exact else 'close'}!\n", f"Expected {expected} but got {actual}."]
    for kind, value, limit in (("Absolute", absolute, atol), ("Relative", relative, rtol)):
        lines.append(f"{kind} difference: {value}" + ("" if exact else f" (up to {limit} allowed)"))
    return "\n".join(lines)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """The old form: dtypes may differ, and NaNs are equal."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please use "
        "`torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    if not isinstance(actual, C.Tensor):
        actual = C.tensor(actual)
    if not isinstance(expected, C.Tensor):
        expected = C.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        limits = [_OLD_TOLERANCES.get(t.dtype, (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = max(r for r, _ in limits), max(a for _, a in limits)
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False,
        check_stride=False, msg=msg or None,
    )  # fmt: skip


_OLD_TOLERANCES = {C.float16: (1e-3, 1e-3), C.float32: (1e-4, 1e-5), C.float64: (1e-5, 1e-8)}


def _interval(low, high, dtype):
    """The bounds of what is drawn, the upper one outside: by default from -9 to 9, inside what the dtype holds."""
    whole = dtype == C.bool or not (dtype.is_floating_point or dtype.is_complex)
    if dtype == C.bool:
        least, beyond, default = 0, 2, (0, 2)
    elif whole:
        limits = C.iinfo(dtype)
        least, beyond = limits.min, limits.max + (dtype != C.int64)
        default = (max(least, -9), 10)
    else:
        limits = C.finfo(dtype)
        least, beyond, default = limits.min, limits.max, (-9, 9)
    low, high = default[0] if low is None else low, default[1] if high is None else high
    if any([isinstance(bound, float) and math.isnan(bound) for bound in (low, high)]):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low} and high={high}")
    if low == high and not whole:
        warnings.warn("Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since "
                      "2.1 and will be removed in 2.3. Use `torch.full(...)` instead.", FutureWarning, stacklevel=3)
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= beyond:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports [{least}, {beyond})"
        )
    low, high = min(max(low, least), beyond), min(max(high, least), beyond)
    return (math.ceil(low), math.ceil(high)) if whole else (low, high)


def make_tensor(
    *shape, dtype, device="cpu", low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False,
    memory_format=None,
):  # fmt: skip
    """Random values from low to high: -9 to 9 of numbers, 0 to 9 of uint8, either of bool."""
    shape = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
    inexact = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not inexact:
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got dtype={dtype}"
        )
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, "
            f"but got noncontiguous=True and memory_format={memory_format}"
        )
    low, high = _interval(low, high, dtype)
    noncontiguous = noncontiguous and math.prod(shape) > 1
    if noncontiguous:
        shape = (*shape[:-1], 2 * shape[-1])
    if inexact:
        result = C.empty(shape, dtype=dtype, device=device)
        (C.view_as_real(result) if dtype.is_complex else result).uniform_(low, high)
    else:
        result = C.randint(low, high, shape, dtype=dtype, device=device)
    if exclude_zero:
        result[result == 0] = C.finfo(dtype).tiny if inexact else 1
    if noncontiguous:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    return result.requires_grad_() if requires_grad else result
