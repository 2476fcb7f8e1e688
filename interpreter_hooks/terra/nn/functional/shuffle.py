"""Moving values between channels and space, and resizing."""

import _terra_C as C

from ._room import check_room
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d

__all__ = ["channel_shuffle", "interpolate", "pixel_shuffle", "pixel_unshuffle", "upsample"]


channel_shuffle = C._functional.channel_shuffle
pixel_shuffle = C._functional.pixel_shuffle
pixel_unshuffle = C._functional.pixel_unshuffle


CUBIC = -0.75  # the slope of the kernel at distance 1


def _positions(out, size, align_corners, scale, dtype):
    """Where in the input each position of the output lies."""
    position = C.arange(out).to(dtype)
    if align_corners:
        return position * ((size - 1) / (out - 1) if out > 1 else 0.0)
    return (position + 0.5) * scale - 0.5


def _linear_taps(size, out, align_corners, scale, dtype):
    """(index, weight) of the neighbours that each position is made of, along one dimension."""
    position = _positions(out, size, align_corners, scale, dtype).clamp(min=0.0)
    low = position.floor().to(C.int64).clamp(max=size - 1)
    weight = position - low.to(dtype)
    return [(low, 1 - weight), ((low + 1).clamp(max=size - 1), weight)]


def _cubic_taps(size, out, align_corners, scale, dtype):
    position = _positions(out, size, align_corners, scale, dtype)
    base = position.floor()
    part = position - base
    taps = []
    for offset in (-1, 0, 1, 2):
        d = (part - offset).abs()
        near = ((CUBIC + 2) * d - (CUBIC + 3)) * d * d + 1
        far = ((CUBIC * d - 5 * CUBIC) * d + 8 * CUBIC) * d - 4 * CUBIC
        taps.append(((base.to(C.int64) + offset).clamp(0, size - 1), near if offset in (0, 1) else far))
    return taps


def _output_size(input, size, scale_factor, recompute_scale_factor):
    """(sizes of the result, input positions per output position) of each spatial dimension."""
    n = input.dim() - 2
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "only one of size or scale_factor should be defined" if size is not None else "either size or scale_factor should be defined"
        )
    if size is not None:
        if recompute_scale_factor:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        out = list(size) if isinstance(size, (tuple, list)) else [size] * n
        return out, [input.shape[2 + i] / out[i] for i in range(n)]
    factors = list(scale_factor) if isinstance(scale_factor, (tuple, list)) else [scale_factor] * n
    out = [int(input.shape[2 + i] * factors[i]) for i in range(n)]
    if recompute_scale_factor:
        return out, [input.shape[2 + i] / out[i] for i in range(n)]
    return out, [1.0 / f for f in factors]


def interpolate(
    input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False
):
    n = input.dim() - 2
    if mode in ("nearest", "nearest-exact", "area") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if antialias:
        raise NotImplementedError("interpolate: antialias=True is not available; leave it out")
    out, scales = _output_size(input, size, scale_factor, recompute_scale_factor)
    check_room((*input.shape[:2], *out), input.dtype)
    if mode == "area" and n in (1, 2):
        return adaptive_avg_pool1d(input, out) if n == 1 else adaptive_avg_pool2d(input, out)
    if mode in ("nearest", "nearest-exact"):
        half = 0.5 if mode == "nearest-exact" else 0.0
        for i in range(n):
            last = input.shape[2 + i] - 1
            index = [min(int((j + half) * scales[i]), last) for j in range(out[i])]
            input = input.index_select(2 + i, C.tensor(index))
        return input
    if mode not in ("linear", "bilinear", "trilinear", "bicubic"):
        raise NotImplementedError(
            f"interpolate: mode '{mode}' of {n} dimensions is not available; use nearest, nearest-exact, linear, bilinear, "
            "trilinear or bicubic"
        )
    taps = _cubic_taps if mode == "bicubic" else _linear_taps
    result = input if input.dtype in (C.float32, C.float64) else input.to(C.float32)
    whole = input.dtype == C.uint8  # rounded after every dimension, the last one first
    for i in reversed(range(n)) if whole else range(n):
        dim = 2 + i
        source, result = result, None
        for index, weight in taps(input.shape[dim], out[i], bool(align_corners), scales[i], source.dtype):
            term = source.index_select(dim, index) * weight.view([-1 if d == dim else 1 for d in range(input.dim())])
            result = term if result is None else result + term
        if whole:
            result = (result + 0.5).floor().clamp(0, 255)
    return result.to(input.dtype)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return interpolate(input, size, scale_factor, mode, align_corners)
