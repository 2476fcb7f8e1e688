"""Moving values between channels and space, and resizing."""

import _terra_C as C

__all__ = ["channel_shuffle", "interpolate", "pixel_shuffle", "pixel_unshuffle", "upsample"]


def pixel_shuffle(input, upscale_factor):
    r = upscale_factor
    *batch, c, h, w = input.shape
    if c % (r * r):
        raise RuntimeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={c} is not divisible by {r * r}"
        )
    x = input.reshape(-1, c // (r * r), r, r, h, w).permute(0, 1, 4, 2, 5, 3)
    return x.reshape(*batch, c // (r * r), h * r, w * r)


def pixel_unshuffle(input, downscale_factor):
    r = downscale_factor
    *batch, c, h, w = input.shape
    x = input.reshape(-1, c, h // r, r, w // r, r).permute(0, 1, 3, 5, 2, 4)
    return x.reshape(*batch, c * r * r, h // r, w // r)


def channel_shuffle(input, groups):
    n, c, *rest = input.shape
    return input.reshape(n, groups, c // groups, *rest).transpose(1, 2).reshape(n, c, *rest)


def _weights(size, out, align_corners, scale):
    """(lower index, upper index, weight of the upper) for linear interpolation along one dimension."""
    position = C.arange(out).to(C.float32)
    if align_corners:
        position = position * ((size - 1) / (out - 1) if out > 1 else 0.0)
    else:
        position = ((position + 0.5) * scale - 0.5).clamp(min=0.0)
    low = position.floor().to(C.int64).clamp(max=size - 1)
    high = (low + 1).clamp(max=size - 1)
    return low, high, position - low.to(C.float32)


def interpolate(
    input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False
):
    n = input.dim() - 2
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "only one of size or scale_factor should be defined" if size is not None else "either size or scale_factor should be defined"
        )
    if size is not None:
        out = list(size) if isinstance(size, (tuple, list)) else [size] * n
        scales = [input.shape[2 + i] / out[i] for i in range(n)]
    else:
        factors = list(scale_factor) if isinstance(scale_factor, (tuple, list)) else [scale_factor] * n
        out = [int(input.shape[2 + i] * factors[i]) for i in range(n)]
        scales = [1.0 / f for f in factors]
    if mode in ("nearest", "nearest-exact"):
        half = 0.5 if mode == "nearest-exact" else 0.0
        for i in range(n):
            last = input.shape[2 + i] - 1
            index = [min(int((j + half) * scales[i]), last) for j in range(out[i])]
            input = input.index_select(2 + i, C.tensor(index))
        return input
    if mode not in ("linear", "bilinear", "trilinear"):
        raise NotImplementedError(f"interpolate: mode '{mode}' is not available; use nearest, nearest-exact, linear or bilinear")
    for i in range(n):
        dim = 2 + i
        low, high, weight = _weights(input.shape[dim], out[i], bool(align_corners), scales[i])
        weight = weight.to(input.dtype).view([-1 if d == dim else 1 for d in range(input.dim())])
        input = input.index_select(dim, low) * (1 - weight) + input.index_select(dim, high) * weight
    return input


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return interpolate(input, size, scale_factor, mode, align_corners)
