"""Pooling over one and two dimensions."""

import _terra_C as C

from ._room import check_room

records = C._functional

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_max_pool1d", "adaptive_max_pool2d", "avg_pool1d",
    "avg_pool2d", "lp_pool2d", "max_pool1d", "max_pool2d", "max_pool2d_with_indices",
]  # fmt: skip

avg_pool2d = records.avg_pool2d


def max_pool2d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    return records.max_pool2d_with_indices(
        input, kernel_size, kernel_size if stride is None else stride, padding, dilation, ceil_mode
    )


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    if stride is None:
        stride = kernel_size
    if return_indices:
        return records.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return records.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def _one(value):
    return value[0] if isinstance(value, (tuple, list)) else value


def _check_1d(name, input):
    if input.dim() not in (2, 3):
        raise RuntimeError(f"{name}() Expected 2D or 3D input tensor, but got {list(input.shape)}")


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    _check_1d("max_pool1d", input)
    stride = kernel_size if stride is None else stride
    out, indices = records.max_pool2d_with_indices(
        input.unsqueeze(-2), (1, _one(kernel_size)), (1, _one(stride)), (0, _one(padding)), (1, _one(dilation)), ceil_mode
    )
    return (out.squeeze(-2), indices.squeeze(-2)) if return_indices else out.squeeze(-2)


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    _check_1d("avg_pool1d", input)
    stride = kernel_size if stride is None else stride
    out = records.avg_pool2d(
        input.unsqueeze(-2), (1, _one(kernel_size)), (1, _one(stride)), (0, _one(padding)), ceil_mode, count_include_pad
    )
    return out.squeeze(-2)


def _output_size(input, output_size, n):
    """`output_size` with None replaced by the input's size."""
    wanted = tuple(output_size) if isinstance(output_size, (tuple, list)) else (output_size,) * n
    return tuple(have if want is None else want for want, have in zip(wanted, input.shape[-n:]))


def adaptive_avg_pool2d(input, output_size):
    return records.adaptive_avg_pool2d(input, _output_size(input, output_size, 2))


def adaptive_avg_pool1d(input, output_size):
    _check_1d("adaptive_avg_pool1d", input)
    return records.adaptive_avg_pool2d(input.unsqueeze(-2), (1, _one(output_size))).squeeze(-2)


def adaptive_max_pool2d(input, output_size, return_indices=False):
    height, width = _output_size(input, output_size, 2)
    check_room((*input.shape[:-2], height, width), input.dtype)
    h, w = input.shape[-2:]
    rows, places = [], []
    for i in range(height):
        top, bottom = i * h // height, -(-(i + 1) * h // height)
        for j in range(width):
            left, right = j * w // width, -(-(j + 1) * w // width)
            window = input[..., top:bottom, left:right].flatten(-2)
            value, index = window.max(-1)
            rows.append(value)
            places.append((index // (right - left) + top) * w + index % (right - left) + left)
    shape = (*input.shape[:-2], height, width)
    out = C.stack(rows, -1).view(shape)
    return (out, C.stack(places, -1).view(shape)) if return_indices else out


def adaptive_max_pool1d(input, output_size, return_indices=False):
    _check_1d("adaptive_max_pool1d", input)
    out, indices = adaptive_max_pool2d(input.unsqueeze(-2), (1, _one(output_size)), True)
    return (out.squeeze(-2), indices.squeeze(-2)) if return_indices else out.squeeze(-2)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    kh, kw = kernel_size if isinstance(kernel_size, (tuple, list)) else (kernel_size, kernel_size)
    mean = records.avg_pool2d(input.pow(norm_type), kernel_size, kernel_size if stride is None else stride, 0, ceil_mode)
    return (mean.sign() * mean.abs().relu() * (kh * kw)).pow(1.0 / norm_type)
