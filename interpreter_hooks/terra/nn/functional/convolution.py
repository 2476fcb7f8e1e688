"""Convolutions over one and two dimensions, their transposes, and windows as columns."""

import _terra_C as C

records = C._functional

__all__ = ["conv1d", "conv2d", "conv_transpose1d", "conv_transpose2d", "fold", "unfold"]

conv_transpose1d = records.conv_transpose1d
conv_transpose2d = records.conv_transpose2d


def same_padding(kernel, dilation):
    """(before, after) per dimension so that stride 1 keeps the size."""
    total = [d * (k - 1) for k, d in zip(kernel, dilation)]
    return [(t // 2, t - t // 2) for t in total]


def _tuple(value, n):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


def _named_padding(input, weight, stride, padding, dilation):
    """(input, padding) with padding='valid' or 'same' turned into numbers; uneven 'same' padding is put on the input."""
    n = weight.dim() - 2
    if padding == "valid":
        return input, 0
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if any(s != 1 for s in _tuple(stride, n)):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    pairs = same_padding(weight.shape[2:], _tuple(dilation, n))
    uneven = [number for before, after in reversed(pairs) for number in (0, after - before)]
    if any(uneven):
        input = C._ops.constant_pad(input, uneven)
    return input, tuple(before for before, _ in pairs)


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    if isinstance(padding, str):
        input, padding = _named_padding(input, weight, stride, padding, dilation)
    return records.conv1d(input, weight, bias, stride, padding, dilation, groups)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    if isinstance(padding, str):
        input, padding = _named_padding(input, weight, stride, padding, dilation)
    return records.conv2d(input, weight, bias, stride, padding, dilation, groups)


def _window_index(size, kernel, dilation, padding, stride):
    """Index [windows, kernel] of the padded positions that each window reads."""
    windows = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    return C.arange(windows).mul(stride).unsqueeze(1) + C.arange(kernel).mul(dilation).unsqueeze(0)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Columns of all windows: [N, C, H, W] -> [N, C * kh * kw, windows]."""
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = (_tuple(v, 2) for v in (kernel_size, dilation, padding, stride))
    n, c, h, w = input.shape
    rows, columns = _window_index(h, kh, dh, ph, sh), _window_index(w, kw, dw, pw, sw)
    padded = C._ops.constant_pad(input, [pw, pw, ph, ph])
    taken = padded[:, :, rows.flatten()][:, :, :, columns.flatten()]
    taken = taken.view(n, c, rows.size(0), kh, columns.size(0), kw)
    return taken.permute(0, 1, 3, 5, 2, 4).reshape(n, c * kh * kw, rows.size(0) * columns.size(0))


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The sum of all windows put back: the transpose of unfold."""
    (oh, ow), (kh, kw), (dh, dw), (ph, pw), (sh, sw) = (
        _tuple(v, 2) for v in (output_size, kernel_size, dilation, padding, stride)
    )
    rows, columns = _window_index(oh, kh, dh, ph, sh), _window_index(ow, kw, dw, pw, sw)
    n, c = input.size(0), input.size(1) // (kh * kw)
    windows = input.view(n, c, kh, kw, rows.size(0), columns.size(0)).permute(0, 1, 4, 2, 5, 3)
    height, width = oh + 2 * ph, ow + 2 * pw
    flat = rows.view(rows.size(0), kh, 1, 1) * width + columns.view(1, 1, columns.size(0), kw)
    index = flat.reshape(1, 1, -1).expand(n, c, -1)
    out = C.zeros(n, c, height * width, dtype=input.dtype).scatter_add(2, index, windows.reshape(n, c, -1))
    return out.view(n, c, height, width)[:, :, ph : ph + oh, pw : pw + ow]
