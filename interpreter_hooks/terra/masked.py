"""torch.masked: reductions and normalizations of the elements where a mask is true.

What is masked out counts as the number that changes nothing; a row without any element gives that number, or NaN."""

import math

import _terra_C as C

from ._names import lazily

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median", "norm",
    "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip


def _dims(input, dim):
    if dim is None:
        return list(range(input.dim()))
    dims = [dim] if isinstance(dim, int) else list(dim)
    return [d % max(input.dim(), 1) for d in dims] or list(range(input.dim()))


def _kept(mask, input):
    """The mask at the input's shape; all of it where there is none."""
    return C.ones(input.shape, dtype=C.bool) if mask is None else mask.to(C.bool).expand(input.shape)


def _filled(input, mask, value):
    return input if mask is None else C.where(_kept(mask, input), input, C.full_like(input, value))


def _lowest(dtype):
    return -math.inf if dtype.is_floating_point else C.iinfo(dtype).min


def _highest(dtype):
    return math.inf if dtype.is_floating_point else C.iinfo(dtype).max


def _filled_lowest(input, mask, name="amax"):
    """Masked out elements are the least ones of the dtype, of which bools have none."""
    if mask is None:
        return input
    _check_ordered(input, name)
    return _filled(input, mask, _lowest(input.dtype))


def _filled_highest(input, mask, name="amin"):
    if mask is None:
        return input
    _check_ordered(input, name)
    return _filled(input, mask, _highest(input.dtype))


def _check_ordered(input, name):
    if input.dtype == C.bool:
        raise NotImplementedError(f"identity of {name} on torch.bool input")


def _check_inexact(dtype, name):
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            f"{name}(): Could not infer output dtype. Input dtype must be either a floating point or complex dtype. "
            f"Got: {dtype}"
        )


def _converted(input, dtype):
    return input if dtype is None else input.to(dtype)


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return _filled(input, mask, 0).sum(_dims(input, dim), keepdim=keepdim, dtype=dtype)


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    result = _converted(_filled(input, mask, 1), dtype)
    if input.dim() == 0:
        return result.prod(dtype=dtype)
    for d in sorted(_dims(input, dim), reverse=True):
        result = result.prod(d, keepdim=keepdim, dtype=dtype)
    return result


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return _converted(_filled_lowest(input, mask).amax(_dims(input, dim), keepdim=keepdim), dtype)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return _converted(_filled_highest(input, mask).amin(_dims(input, dim), keepdim=keepdim), dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The position, as a number of the input's dtype or of `dtype`."""
    return _filled_lowest(input, mask, "argmax").argmax(dim, keepdim=keepdim).to(dtype or input.dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    """The position, as a number of the input's dtype or of `dtype`."""
    return _filled_highest(input, mask, "argmin").argmin(dim, keepdim=keepdim).to(dtype or input.dtype)


def _count(input, dims, keepdim, mask):
    return _kept(mask, input).sum(dims, keepdim=keepdim)


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    dims = _dims(input, dim)
    _check_inexact(dtype or input.dtype, "mean")
    return sum(input, dims, keepdim=keepdim, dtype=dtype, mask=mask) / _count(input, dims, keepdim, mask)


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    """The lower one of two in the middle."""
    input = _converted(input, dtype)
    if mask is None:
        ordered = input.to(C.uint8) if input.dtype == C.bool else input
        return ordered.median(dim, keepdim=keepdim).values.to(input.dtype)
    if input.dtype.is_floating_point:
        return _filled(input, mask, math.nan).nanmedian(dim, keepdim=keepdim).values
    if not _kept(mask, input).any(dim).all():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return _filled(input.to(C.float64), mask, math.nan).nanmedian(dim, keepdim=keepdim).values.to(input.dtype)


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    input = _converted(input, dtype)
    filled = _filled_lowest(input, mask, "logsumexp")
    return filled.logsumexp(_dims(input, dim), keepdim=keepdim).to(input.dtype)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    first, second = _converted(input, dtype), _converted(other, dtype)
    return C.logaddexp(
        _filled_lowest(first, input_mask, "logaddexp"), _filled_lowest(second, other_mask, "logaddexp")
    )


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    input = _converted(input, dtype)
    nothing = _highest(input.dtype) if ord == -math.inf else 0
    return C._linalg.vector_norm(_filled(input, mask, nothing), ord, _dims(input, dim), keepdim=keepdim)


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    if unbiased is not None and correction is not None:
        raise ValueError("Only one of unbiased and correction may be given")
    correction = int(unbiased) if unbiased is not None else 1 if correction is None else correction
    input, dims = _converted(input, dtype), _dims(input, dim)
    count = _count(input, dims, True, mask)
    center = _filled(input, mask, 0).sum(dims, keepdim=True) / count
    total = _filled((input - center).square(), mask, 0).sum(dims, keepdim=keepdim)
    return (total / (count.reshape(total.shape) - correction).clamp(min=0)).to(total.dtype)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    return var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask).sqrt()


def softmax(input, dim, *, dtype=None, mask=None):
    return _filled_lowest(_converted(input, dtype), mask).softmax(dim)


def softmin(input, dim, *, dtype=None, mask=None):
    return (-_filled_highest(_converted(input, dtype), mask)).softmax(dim)


def log_softmax(input, dim, *, dtype=None, mask=None):
    return _filled_lowest(_converted(input, dtype), mask).log_softmax(dim)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    input = _converted(input, dtype)
    length = norm(input, ord, dim, keepdim=True, mask=mask).clamp(min=eps)
    return _filled(input, mask, 0) / length


def cumsum(input, dim, *, dtype=None, mask=None):
    return _filled(input, mask, 0).cumsum(dim, dtype=dtype or input.dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    return _filled(input, mask, 1).cumprod(dim, dtype=dtype or input.dtype)


__getattr__ = lazily(
    __name__, functions={"terra._masked_tensor": ("MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor")}
)
