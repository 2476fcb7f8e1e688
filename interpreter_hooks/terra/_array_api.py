"""What the Python array API standard (data-apis.org) asks of a namespace and PyTorch has under another name or not at all.

Only names that PyTorch leaves free are here: where it has a function of its own with another meaning (`max`, `sort`,
`nonzero`), PyTorch's stays. `array_api_compat.torch` wraps those, over Terra as over PyTorch."""

from collections import namedtuple

import _terra_C as C

from ._dtypes import HALVES
from ._functions import broadcast_tensors, tensordot  # noqa: F401

__array_api_version__ = "2024.12"

UniqueAll = namedtuple("UniqueAllResult", "values indices inverse_indices counts")
UniqueCounts = namedtuple("UniqueCountsResult", "values counts")
UniqueInverse = namedtuple("UniqueInverseResult", "values inverse_indices")

_SIGNED = "int8", "int16", "int32", "int64"
_UNSIGNED = "uint8", "uint16", "uint32", "uint64"
_REAL = "float32", "float64"
_COMPLEX = "complex64", "complex128"
_KINDS = {
    "bool": ("bool",),
    "signed integer": _SIGNED,
    "unsigned integer": _UNSIGNED,
    "integral": _SIGNED + _UNSIGNED,
    "real floating": _REAL,
    "complex floating": _COMPLEX,
    "numeric": _SIGNED + _UNSIGNED + _REAL + _COMPLEX,
}


# ---- what the namespace offers -------------------------------------------------------------------------------------
class Info:
    """Answers what `__array_namespace_info__()` is asked."""

    def capabilities(self):
        """What the standard leaves open."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self):
        """The device of tensors that are made without one."""
        return C.empty(0).device

    def default_dtypes(self, *, device=None):
        """The dtypes of tensors that are made without one, by kind."""
        real = C.get_default_dtype()
        joined = C.complex128 if real == C.float64 else C.complex64
        return {"real floating": real, "complex floating": joined, "integral": C.int64, "indexing": C.int64}

    def dtypes(self, *, device=None, kind=None):
        """{name: dtype} of one kind, of several, or of all."""
        kinds = ("bool", "numeric") if kind is None else kind if isinstance(kind, tuple) else (kind,)
        return {name: getattr(C, name) for each in kinds for name in _names_of(each)}

    def devices(self):
        """The devices that there are."""
        return [C.device("cpu")]


def __array_namespace_info__():
    """The inspection object of the array API standard."""
    return Info()


def _names_of(kind):
    names = _KINDS.get(kind)
    if names is None:
        raise ValueError(f"kind: expected one of {', '.join(map(repr, _KINDS))} or a tuple of them, got {kind!r}")
    return names


def isdtype(dtype, kind):
    """Whether a dtype is another, is of a kind (`"real floating"`, ...), or is one of a tuple of either."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if not isinstance(kind, str):
        return dtype == kind
    of_kind = _names_of(kind)
    half = kind in ("real floating", "numeric") and dtype in HALVES
    return half or any(dtype == getattr(C, name) for name in of_kind)


def astype(x, dtype, /, *, copy=True, device=None):
    """The tensor with elements of another type; itself if `copy` is false and nothing changes."""
    if x.dtype.is_complex and not dtype.is_complex:
        raise TypeError(f"astype: a complex tensor can't become {dtype}; take .real, .imag or abs() of it first")
    return x.to(device=x.device if device is None else device, dtype=dtype, copy=copy)


# ---- elements and shapes -------------------------------------------------------------------------------------------
def bitwise_invert(x, /):
    """Each bit turned round."""
    return C.bitwise_not(x)


def broadcast_arrays(*arrays):
    """The tensors expanded to the shape that they have in common."""
    return list(broadcast_tensors(*arrays))


def expand_dims(x, /, *, axis=0):
    """A dimension of size 1 more, at `axis`."""
    return C.unsqueeze(x, axis)


def matrix_transpose(x, /):
    """The last two dimensions exchanged."""
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: expected 2 dimensions or more, got {x.ndim}")
    return x.mT


def permute_dims(x, /, axes):
    """The dimensions in another order."""
    return C.permute(x, axes)


def repeat(x, repeats, /, *, axis=None):
    """Each element so many times, along an axis or along the flattened tensor."""
    return C.repeat_interleave(x, repeats, axis)


def take_along_axis(x, indices, /, *, axis=-1):
    """The elements that are named one by one along an axis."""
    return C.take_along_dim(x, indices, axis)


def unstack(x, /, *, axis=0):
    """The slices along an axis."""
    return C.unbind(x, axis)


# ---- sums and products ---------------------------------------------------------------------------------------------
outer = C.outer


def trace(x, /, *, offset=0, dtype=None):
    """The sum along a diagonal of each matrix."""
    return x.diagonal(offset, -2, -1).sum(-1, dtype=dtype)


def vecdot(x1, x2, /, *, axis=-1):
    """The dot products of vectors that lie along an axis; the first is conjugated."""
    x1, x2 = broadcast_tensors(x1, x2)
    dtype = C.result_type(x1, x2)
    return (x1.to(dtype).conj() * x2.to(dtype)).sum(axis, dtype=dtype)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """The sums so far; with `include_initial` they begin with 0."""
    return _cumulative(C.cumsum, 0, "cumulative_sum", x, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """The products so far; with `include_initial` they begin with 1."""
    return _cumulative(C.cumprod, 1, "cumulative_prod", x, axis, dtype, include_initial)


def _cumulative(scan, first, name, x, axis, dtype, include_initial):
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"{name}: `axis` may be left out for one dimension only, got {x.ndim}")
        axis = 0
    result = scan(x, axis, dtype=dtype)
    if not include_initial:
        return result
    shape = list(result.shape)
    shape[axis] = 1
    return C.cat([result.new_full(shape, first), result], axis)


# ---- sets ----------------------------------------------------------------------------------------------------------
def unique_all(x, /):
    """The different elements, where each is first, which one each element is, and how often each occurs."""
    values, inverse, counts = C.unique(x, return_inverse=True, return_counts=True)
    places = C.arange(x.numel(), device=x.device)
    first = C.full(values.shape, x.numel(), device=x.device)
    first = first.scatter_reduce(0, inverse.reshape(-1), places, "amin")
    return UniqueAll(values, first, inverse, counts)


def unique_counts(x, /):
    """The different elements, and how often each occurs."""
    return UniqueCounts(*C.unique(x, return_counts=True))


def unique_inverse(x, /):
    """The different elements, and which one each element is."""
    return UniqueInverse(*C.unique(x, return_inverse=True))


def unique_values(x, /):
    """The different elements."""
    return C.unique(x)
