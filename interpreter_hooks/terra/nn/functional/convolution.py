"""Convolutions over one to three dimensions, their transposes, and windows as columns."""

import _terra_C as C

from ..._warnings import warn_once

records = C._functional

__all__ = [
    "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "fold",
    "unfold",
]  # fmt: skip

conv_transpose1d = records.conv_transpose1d
conv_transpose2d = records.conv_transpose2d
conv_transpose3d = records.conv_transpose3d


def same_padding(kernel, dilation):
    """(before, after) per dimension so that stride 1 keeps the size."""
    total = [d * (k - 1) for k, d in zip(kernel, dilation)]
    return [(t // 2, t - t // 2) for t in total]


def repeated(value, n):
    """One number per dimension."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


def _named_padding(n, input, weight, stride, padding, dilation):
    """(input, padding) with padding='valid' or 'same' turned into numbers; uneven 'same' padding is put on the input."""
    if padding == "valid":
        return input, 0
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if any(s != 1 for s in repeated(stride, n)):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    if weight.dim() != n + 2 or input.dim() not in (n + 1, n + 2):
        return input, 0  # the op refuses them, naming their sizes
    pairs = same_padding(weight.shape[2:], repeated(dilation, n))
    uneven = [number for before, after in reversed(pairs) for number in (0, after - before)]
    if any(uneven):
        warn_once(
            "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the input be "
            "created",
            stacklevel=3,
        )
        input = C._ops.constant_pad(input, uneven)
    return input, tuple(before for before, _ in pairs)


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    if isinstance(padding, str):
        input, padding = _named_padding(1, input, weight, stride, padding, dilation)
    return records.conv1d(input, weight, bias, stride, padding, dilation, groups)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    if isinstance(padding, str):
        input, padding = _named_padding(2, input, weight, stride, padding, dilation)
    return records.conv2d(input, weight, bias, stride, padding, dilation, groups)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    if isinstance(padding, str):
        input, padding = _named_padding(3, input, weight, stride, padding, dilation)
    return records.conv3d(input, weight, bias, stride, padding, dilation, groups)


def conv_tbc(input, weight, bias, pad=0):
    """conv1d of sequences [time, batch, channels] with filters [width, in, out]."""
    if input.dim() != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.dim() != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    result = records.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, 1, pad).permute(2, 0, 1)
    return C._ops.named(result, "ConvTbcBackward0")


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Columns of all windows: [N, C, H, W] -> [N, C * kh * kw, windows]."""
    if input.dtype == C.bool:
        return unfold(input.to(C.uint8), kernel_size, dilation, padding, stride).to(C.bool)
    if input.dim() == 3:
        return C._ops.im2col(input.unsqueeze(0), kernel_size, dilation, padding, stride).squeeze(0)
    return C._ops.im2col(input, kernel_size, dilation, padding, stride)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The sum of all windows put back: the transpose of unfold."""
    if input.dim() == 2:
        return C._ops.col2im(input.unsqueeze(0), output_size, kernel_size, dilation, padding, stride).squeeze(0)
    return C._ops.col2im(input, output_size, kernel_size, dilation, padding, stride)
