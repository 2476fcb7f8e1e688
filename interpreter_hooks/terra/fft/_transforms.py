"""The transforms: what a program asks for in terms of the three that the engine computes.

`fft_c2c` transforms complex numbers, `fft_r2c` real ones (to the whole spectrum, or to the half that says it all),
`fft_c2r` such a half back to real numbers. Names with a number at their end are the same over several dimensions."""

import math

import _terra_C as C

from .._dtypes import HALVES
from .._functions import _into

_LAST_TWO = (-2, -1)


def _scale(norm, forward, count):
    """The factor of the result of a transform of `count` numbers."""
    if norm not in (None, "backward", "forward", "ortho"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    if norm == "ortho":
        return 1.0 / math.sqrt(count)
    return 1.0 / count if (norm == "forward") == forward else 1.0


def _floats(input, name):
    """The input as numbers that are transformed: integers and bools as floats of the default dtype."""
    if not isinstance(input, C.Tensor):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    input = C._in_single(input)
    dtype = input.dtype
    if dtype in HALVES:
        raise NotImplementedError(f"Unsupported dtype {'Half' if dtype == C.float16 else 'BFloat16'}")
    return input if dtype.is_floating_point or dtype.is_complex else input.to(C.get_default_dtype())


def _complex(input, name):
    input = _floats(input, name)
    return input if input.is_complex() else input.to(C.complex128 if input.dtype == C.float64 else C.complex64)


def _real(input, name, kind):
    if isinstance(input, C.Tensor) and input.is_complex():
        shown = "ComplexFloat" if input.dtype == C.complex64 else "ComplexDouble"
        raise TypeError(f"{name} expects a {kind} input tensor, but got {shown}")
    return _floats(input, "fft_" + name)


def _named(dim, axis):
    """The dimension or dimensions, which a program may call `axis` as in NumPy."""
    return dim if axis is None else axis


def _wrapped(dim, rank):
    if rank == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim % rank


def _resized(input, dims, sizes):
    """The first sizes[i] numbers along dims[i], with zeros behind them where there are fewer; -1: all there are."""
    for dim, size in zip(dims, sizes):
        have = input.size(dim)
        if size == -1 or size == have:
            continue
        if size < have:
            input = input.narrow(dim, 0, size)
        else:
            input = C._ops.constant_pad(input, [0, 0] * (input.dim() - 1 - dim) + [0, size - have])
    return input


def _one(input, n, dim):
    """The input along one dimension, n numbers of it, and that dimension."""
    dim = _wrapped(dim, input.dim())
    size = input.size(dim) if n is None else n
    if size < 1:
        raise RuntimeError(f"Invalid number of data points ({size}) specified")
    return _resized(input, (dim,), (size,)), dim


def _several(input, s, dim):
    """The dimensions that are named, and for each the number of points (-1: as many as there are)."""
    rank = input.dim()
    if isinstance(s, int):
        s = (s,)
    if isinstance(dim, int):
        dim = (dim,)
    if dim is not None:
        dims = [_wrapped(d, rank) for d in dim]
        if len(set(dims)) < len(dims):
            raise RuntimeError("FFT dims must be unique")
        if s is not None and len(s) != len(dims):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
    elif s is not None:
        if len(s) > rank:
            raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {rank} dimensions.")
        dims = list(range(rank - len(s), rank))
    else:
        dims = list(range(rank))
    return dims, [-1] * len(dims) if s is None else list(s)


def _checked(sizes):
    for size in sizes:
        if size < 1:
            raise RuntimeError(f"Invalid number of data points ({size}) specified")


def _all_of(input, s, dim):
    """The input with the sizes that are asked for, and the dimensions to transform."""
    dims, sizes = _several(input, s, dim)
    _checked([input.size(d) if size == -1 else size for d, size in zip(dims, sizes)])
    return _resized(input, dims, sizes), dims


def _count(input, dims):
    return math.prod(input.size(d) for d in dims)


def _checked_out(out, name, is_complex):
    if out is not None and out.is_complex() != is_complex:
        kind, given = ("complex", "Float") if is_complex else ("floating point", "ComplexFloat")
        raise RuntimeError(f"{name} expects a {kind} output tensor, but got {given}")


def _to_complex(name, input, n, dim, norm, forward, out):
    """fft and ifft: the spectrum of real numbers is half as much work."""
    _checked_out(out, name, True)
    input, dim = _one(_floats(input, "fft_" + name), n, dim)
    scale = _scale(norm, forward, input.size(dim))
    if input.is_complex():
        return _into(out, C._ops.fft_c2c(input, [dim], forward, scale))
    result = C._ops.fft_r2c(input, [dim], False, scale)
    return _into(out, result if forward else result.conj())


def fft(input, n=None, dim=-1, norm=None, *, out=None, axis=None):
    return _to_complex("fft", input, n, _named(dim, axis), norm, True, out)


def ifft(input, n=None, dim=-1, norm=None, *, out=None, axis=None):
    return _to_complex("ifft", input, n, _named(dim, axis), norm, False, out)


def rfft(input, n=None, dim=-1, norm=None, *, out=None, axis=None):
    _checked_out(out, "rfft", True)
    input, dim = _one(_real(input, "rfft", "real"), n, _named(dim, axis))
    return _into(out, C._ops.fft_r2c(input, [dim], True, _scale(norm, True, input.size(dim))))


def ihfft(input, n=None, dim=-1, norm=None, *, out=None, axis=None):
    _checked_out(out, "ihfft", True)
    input, dim = _one(_real(input, "ihfft", "real"), n, _named(dim, axis))
    return _into(out, C._ops.fft_r2c(input, [dim], True, _scale(norm, False, input.size(dim))).conj())


def _to_real(name, input, n, dim, norm, forward, out):
    """irfft and hfft: n real numbers from half a spectrum."""
    _checked_out(out, name, False)
    input = _complex(input, "fft_" + name)
    dim = _wrapped(dim, input.dim())
    size = 2 * (input.size(dim) - 1) if n is None else n
    _checked([size])
    half = _resized(input, (dim,), (size // 2 + 1,))
    half = half.conj() if forward else half
    return _into(out, C._ops.fft_c2r(half, [dim], size, _scale(norm, forward, size)))


def irfft(input, n=None, dim=-1, norm=None, *, out=None, axis=None):
    return _to_real("irfft", input, n, _named(dim, axis), norm, False, out)


def hfft(input, n=None, dim=-1, norm=None, *, out=None, axis=None):
    return _to_real("hfft", input, n, _named(dim, axis), norm, True, out)


def _complex_over(name, input, s, dim, norm, forward, out):
    _checked_out(out, name, True)
    input, dims = _all_of(_complex(input, "fft_" + name), s, dim)
    return _into(out, C._ops.fft_c2c(input, dims, forward, _scale(norm, forward, _count(input, dims))))


def fftn(input, s=None, dim=None, norm=None, *, out=None, axis=None):
    return _complex_over("fftn", input, s, _named(dim, axis), norm, True, out)


def ifftn(input, s=None, dim=None, norm=None, *, out=None, axis=None):
    return _complex_over("ifftn", input, s, _named(dim, axis), norm, False, out)


def _real_over(name, input, s, dim, norm, forward, out):
    """rfftn and ihfftn: the last dimension of real numbers is halved."""
    _checked_out(out, name, True)
    input, dims = _all_of(_real(input, name, "real-valued"), s, dim)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    result = C._ops.fft_r2c(input, dims, True, _scale(norm, forward, _count(input, dims)))
    return _into(out, result if forward else result.conj())


def rfftn(input, s=None, dim=None, norm=None, *, out=None, axis=None):
    return _real_over("rfftn", input, s, _named(dim, axis), norm, True, out)


def ihfftn(input, s=None, dim=None, norm=None, *, out=None, axis=None):
    return _real_over("ihfftn", input, s, _named(dim, axis), norm, False, out)


def _to_real_over(name, input, s, dim, norm, forward, out):
    """irfftn and hfftn: the last dimension is doubled."""
    _checked_out(out, name, False)
    input = _complex(input, "fft_" + name)
    dims, sizes = _several(input, s, dim)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    last = 2 * (input.size(dims[-1]) - 1) if sizes[-1] == -1 else sizes[-1]
    _checked([*(input.size(d) if size == -1 else size for d, size in zip(dims[:-1], sizes)), last])
    half = _resized(input, dims, [*sizes[:-1], last // 2 + 1])
    half = half.conj() if forward else half
    return _into(out, C._ops.fft_c2r(half, dims, last, _scale(norm, forward, _count(half, dims[:-1]) * last)))


def irfftn(input, s=None, dim=None, norm=None, *, out=None, axis=None):
    return _to_real_over("irfftn", input, s, _named(dim, axis), norm, False, out)


def hfftn(input, s=None, dim=None, norm=None, *, out=None, axis=None):
    return _to_real_over("hfftn", input, s, _named(dim, axis), norm, True, out)


def _over_two(transform, name):
    def over(input, s=None, dim=_LAST_TWO, norm=None, *, out=None, axis=None):
        return transform(input, s, _named(dim, axis), norm, out=out)

    over.__name__ = over.__qualname__ = name
    over.__doc__ = f"{transform.__name__} over the last two dimensions, or two others."
    return over


fft2, ifft2, rfft2, irfft2, hfft2, ihfft2 = (
    _over_two(transform, name)
    for transform, name in (
        (fftn, "fft2"), (ifftn, "ifft2"), (rfftn, "rfft2"), (irfftn, "irfft2"), (hfftn, "hfft2"), (ihfftn, "ihfft2"),
    )
)  # fmt: skip
