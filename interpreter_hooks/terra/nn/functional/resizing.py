"""Images and their kin in other sizes. All methods work along one dimension after the other, the last one first."""

import math
import warnings

import _terra_C as C

from ._room import check_room
from .pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

MODES = ("nearest", "linear", "bilinear", "bicubic", "trilinear", "lanczos", "area", "nearest-exact")
SPATIAL = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3, "lanczos": 2}
CUBIC = -0.75  # the slope of the kernel at distance 1
SMOOTH_CUBIC = -0.5  # the same where an image is made smaller without aliasing


# ---- what positions are made of: (index, weight) of the taps of every position along one dimension ------------------
def _positions(out, size, align_corners, scale, dtype, device):
    """Where in the input each position of the output lies."""
    position = C.arange(out, device=device).to(dtype)
    if align_corners:
        return position * ((size - 1) / (out - 1) if out > 1 else 0.0)
    return (position + 0.5) * scale - 0.5


def _linear_taps(size, out, align_corners, scale, dtype, device):
    position = _positions(out, size, align_corners, scale, dtype, device).clamp(min=0.0)
    low = position.floor().to(C.int64).clamp(max=size - 1)
    weight = position - low.to(dtype)
    return [(low, 1 - weight), ((low + 1).clamp(max=size - 1), weight)]


def cubic(distance, slope):
    """(weight at a distance below 1, weight at one between 1 and 2) of cubic convolution."""
    near = ((slope + 2) * distance - (slope + 3)) * distance * distance + 1
    far = ((slope * distance - 5 * slope) * distance + 8 * slope) * distance - 4 * slope
    return near, far


def _cubic_taps(size, out, align_corners, scale, dtype, device):
    position = _positions(out, size, align_corners, scale, dtype, device)
    base = position.floor()
    part = position - base
    taps = []
    for offset in (-1, 0, 1, 2):
        near, far = cubic((part - offset).abs(), CUBIC)
        taps.append(((base.to(C.int64) + offset).clamp(0, size - 1), near if offset in (0, 1) else far))
    return taps


def _in_steps(weights):
    """Weights for bytes: whole numbers of 15 bits over a power of two, as large as the largest weight allows."""
    largest = float(weights.max())
    bits = next(b for b in range(22) if int(largest * (2 << b) + 0.5) >= 1 << 15)
    return (weights.abs() * (1 << bits) + 0.5).floor() * weights.sign() / (1 << bits)


def _resized(input, dim, taps):
    """`input` along one dimension as sums of taps."""
    indices, weights = zip(*taps)
    return C._ops.resample(input, dim, C.stack(indices), C.stack(weights))


# ---- without aliasing: every position is a weighted mean over all that it covers ------------------------------------
def _triangle(x):
    return (1.0 - x.abs()).clamp(min=0.0)


def _smooth_cubic(x):
    x = x.abs()
    near, far = cubic(x, SMOOTH_CUBIC)
    return C.where(x < 1, near, C.where(x < 2, far, 0.0))


def _lanczos(x):
    turned = C.where(x == 0, 1.0, x) * math.pi
    wave = 3 * turned.sin() * (turned / 3).sin() / (turned * turned)
    return C.where(x == 0, 1.0, C.where(x.abs() < 3, wave, 0.0))


FILTERS = {"bilinear": (_triangle, 1.0), "bicubic": (_smooth_cubic, 2.0), "lanczos": (_lanczos, 3.0)}


def _covering(size, out, align_corners, scale, mode, dtype, device):
    """[out, size] weights of all positions of the input, computed in `dtype`; each row sums to 1."""
    weight, radius = FILTERS[mode]
    if align_corners:
        scale = (size - 1) / (out - 1) if out > 1 else 0.0
    widened = max(scale, 1.0)
    center = (C.arange(out, device=device).to(dtype) + 0.5) * scale
    first = (center - radius * widened + 0.5).to(C.int64).clamp(min=0).unsqueeze(1)
    last = (center + radius * widened + 0.5).to(C.int64).clamp(max=size).unsqueeze(1)
    place = C.arange(size, device=device).unsqueeze(0)
    weights = weight((place.to(dtype) - center.unsqueeze(1) + 0.5) * (1.0 / widened))
    weights = C.where((place >= first) & (place < last), weights, 0.0)
    total = weights.sum(1, keepdim=True)
    return weights / C.where(total == 0, 1.0, total)


def _covered(input, dim, weights):
    return C.matmul(input.movedim(dim, -1), weights.t()).movedim(-1, dim)


# ---- sizes ----------------------------------------------------------------------------------------------------------
def _per_dimension(value, n, input, name, letter):
    if not isinstance(value, (tuple, list)):
        return [_number(value)] * n
    if len(value) != n:
        said, form = ("scale_factor", f"scale_factor of shape {value}") if letter == "s" else (
            "output", f"output size of {value}"
        )
        raise ValueError(
            f"Input and {said} must have the same number of spatial dimensions, but got input with spatial "
            f"dimensions of {list(input.shape[2:])} and {form}. Please provide input tensor in (N, C, d1, d2, "
            f"...,dK) format and {name} in ({letter}1, {letter}2, ...,{letter}K) format."
        )
    return [_number(each) for each in value]


def _number(value):
    """Sizes and factors may be given as tensors of one element."""
    return value.item() if isinstance(value, C.Tensor) else value


def _output_size(input, size, scale_factor, recompute_scale_factor):
    """(sizes of the result, input positions per output position) of each spatial dimension."""
    n = input.dim() - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if size is not None:
        if recompute_scale_factor:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        out = _per_dimension(size, n, input, "output size", "o")
        scales = None
    else:
        factors = _per_dimension(scale_factor, n, input, "scale_factor", "s")
        out = [int(math.floor(input.shape[2 + i] * factors[i])) for i in range(n)]
        scales = None if recompute_scale_factor else [1.0 / f if f else 0.0 for f in factors]
    have = input.shape[2:]
    if any(s <= 0 for s in (*out, *have)):
        names = "DHW"[3 - n :] if n > 1 else ["L"]

        def shown(sizes):
            return ", ".join(f"{name}: {s}" for name, s in zip(names, sizes))

        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({shown(have)}) output ({shown(out)})"
        )
    return out, scales or [have[i] / out[i] for i in range(n)]


def _check_mode(input, mode, align_corners, antialias):
    n = input.dim() - 2
    if mode in ("nearest", "nearest-exact", "area") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if mode == "lanczos":
        if not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
        if align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
    if antialias and not (mode in FILTERS and n == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if n not in (1, 2, 3) or mode not in MODES or (mode == "bicubic" and n != 2):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.dim()}D) for the modes: "
            f"{' | '.join(MODES)} (got {mode})"
        )
    if n != SPATIAL.get(mode, n):
        raise NotImplementedError(f"Got {input.dim()}D input, but {mode} mode needs {SPATIAL[mode] + 2}D input")


def _lying_as(result, input):
    """`result`, pixel by pixel in memory where `input` lies so."""
    if not input.is_contiguous():
        for memory_format in (C.channels_last, C.channels_last_3d):
            if input.is_contiguous(memory_format=memory_format):
                return result.contiguous(memory_format=memory_format)
    return result


AREA = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)


def _node_of(mode, n, antialias=False):
    """What PyTorch calls the gradient."""
    words = "".join([word.capitalize() for word in mode.split("-")])
    return f"Upsample{words}{n}D{'Aa' if antialias else ''}Backward0"


def interpolate(
    input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
    antialias=False,
):  # fmt: skip
    n = input.dim() - 2
    _check_mode(input, mode, align_corners, antialias)
    out, scales = _output_size(input, size, scale_factor, recompute_scale_factor)
    check_room((*input.shape[:2], *out), input.dtype)
    if input.size(1) == 0:
        raise RuntimeError(
            f"Non-empty {input.dim()}D data tensor expected but got a tensor with sizes {list(input.shape)}"
        )
    if mode == "area":
        return AREA[n - 1](input, out)
    if mode in ("nearest", "nearest-exact"):
        shift = 0.5 if mode == "nearest-exact" else 0.0
        result = input
        for i in reversed(range(n)):
            position = (C.arange(out[i], device=input.device).to(C.float32) + shift) * scales[i]
            index = position.to(C.int64).clamp(max=input.size(2 + i) - 1)
            if input.dtype in (C.float32, C.float64):
                result = _resized(result, 2 + i, [(index, C.ones(out[i], device=input.device, dtype=input.dtype))])
            else:
                result = result.index_select(2 + i, index)
        return C._ops.named(_lying_as(result, input), _node_of(mode, n))
    taps = _cubic_taps if mode == "bicubic" else _linear_taps
    whole = input.dtype == C.uint8  # rounded after every dimension
    result = input.to(C.float64 if whole else C.float32) if input.dtype not in (C.float32, C.float64) else input
    for i in reversed(range(n)):
        dim, have = 2 + i, input.size(2 + i)
        if antialias:
            weights = _covering(have, out[i], align_corners, scales[i], mode, result.dtype, input.device)
            result = _covered(result, dim, _in_steps(weights) if whole else weights)
        else:
            pairs = taps(have, out[i], bool(align_corners), scales[i], result.dtype, input.device)
            if whole:
                steps = _in_steps(C.stack([weight for _, weight in pairs]))
                pairs = [(index, step) for (index, _), step in zip(pairs, steps)]
            result = _resized(result, dim, pairs)
        if whole:
            result = (result + 0.5).floor().clamp(0, 255)
    return C._ops.named(_lying_as(result.to(input.dtype), input), _node_of(mode, n, antialias))


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def _deprecated(name):
    warnings.warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=3)


def upsample_nearest(input, size=None, scale_factor=None):
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", align_corners=True)
