"""Pooling over one, two and three dimensions."""

import _terra_C as C

from ._largest import fractional, largest
from ._room import check_room
from ._words import scalar_type
from .convolution import repeated

records = C._functional

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices", "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d",
    "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices",
    "max_unpool1d", "max_unpool2d", "max_unpool3d",
]  # fmt: skip

avg_pool2d = records.avg_pool2d
avg_pool3d = records.avg_pool3d


def _one(value):
    return value[0] if isinstance(value, (tuple, list)) else value


def _one_size(name, output_size):
    if isinstance(output_size, (tuple, list)) and len(output_size) != 1:
        raise RuntimeError(f"{name}() argument 'output_size' should contain one int (got {len(output_size)})")
    return _one(output_size)


def _check_1d(name, input):
    if input.dim() not in (2, 3):
        raise RuntimeError(f"{name}() Expected 2D or 3D input tensor, but got {list(input.shape)}")


def _check_max_pool1d_rank(input):
    if input.dim() not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(input.shape)}"
        )


# ---- maxima ---------------------------------------------------------------------------------------------------------
def max_pool1d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    _check_max_pool1d_rank(input)
    stride = kernel_size if stride is None else stride
    out, indices = records.max_pool2d_with_indices(
        input.unsqueeze(-2), (1, _one(kernel_size)), (1, _one(stride)), (0, _one(padding)), (1, _one(dilation)),
        ceil_mode,
    )  # fmt: skip
    return out.squeeze(-2), indices.squeeze(-2)


def _check_max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode):
    """What PyTorch says of windows in a row that have no indices to give."""
    for name, value in (("kernel_size", kernel_size), ("stride", stride), ("padding", padding), ("dilation", dilation)):
        if isinstance(value, (tuple, list)) and len(value) != 1:
            raise RuntimeError(
                f"max_pool1d() {name} must be an int, list of ints or tuple of ints of size 1 but got size {len(value)}"
            )
    kernel, padding, dilation = _one(kernel_size), _one(padding), _one(dilation)
    stride = kernel if stride is None else _one(stride)
    if kernel <= 0:
        raise RuntimeError(f"max_pool1d() kernel_size must be greater than zero, but got {kernel}")
    if stride <= 0:
        raise RuntimeError(f"max_pool1d() stride must be greater than zero, but got {stride}")
    if padding < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, but got padding="
            f"{padding} and kernel_size={kernel}"
        )
    if dilation <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {dilation}")
    reach = dilation * (kernel - 1)
    if reach >= 2**63 - 1:
        raise RuntimeError(
            f"effective kernel size overflows, but got kernel_size={kernel} and dilation={dilation}"
        )
    room = input.size(-1) + 2 * padding - reach - 1
    if room < 0:
        count = (room + stride - 1 if ceil_mode else room) // stride + 1
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    _check_max_pool1d_rank(input)
    if not return_indices:
        _check_max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)
    both = max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return both if return_indices else both[0]


def max_pool2d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    stride = kernel_size if stride is None else stride
    out, indices = records.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return out, indices


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    if stride is None:
        stride = kernel_size
    if return_indices:
        return max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return records.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d_with_indices(
    input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False
):
    out, indices = records.max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return out, indices


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    if return_indices:
        return max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return records.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)


# ---- means ----------------------------------------------------------------------------------------------------------
def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    _check_1d("avg_pool1d", input)
    stride = kernel_size if stride is None else stride
    out = records.avg_pool2d(
        input.unsqueeze(-2), (1, _one(kernel_size)), (1, _one(stride)), (0, _one(padding)), ceil_mode, count_include_pad
    )
    return out.squeeze(-2)


def _lengths(norm_type, kernel_size, mean):
    """Norms of windows, from the means of powers."""
    if norm_type == 0:
        raise ValueError("norm_type must be a non-zero value, but got 0")
    count = 1
    for size in kernel_size:
        count *= size
    return (mean.sign() * mean.abs().relu() * count).pow(1.0 / norm_type)


def _powers(input, norm_type):
    return input.pow(norm_type) if norm_type != 0 else input


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    mean = avg_pool1d(_powers(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return _lengths(norm_type, (_one(kernel_size),), mean)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    mean = avg_pool2d(_powers(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return _lengths(norm_type, repeated(kernel_size, 2), mean)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    mean = avg_pool3d(_powers(input, norm_type), kernel_size, stride, 0, ceil_mode)
    return _lengths(norm_type, repeated(kernel_size, 3), mean)


# ---- as many windows as are asked for -------------------------------------------------------------------------------
def _check_rank(input, output_size):
    if isinstance(output_size, (tuple, list)) and input.dim() <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")


def _output_size(input, output_size, n):
    """`output_size` with None replaced by the input's size."""
    _check_rank(input, output_size)
    wanted = repeated(output_size, n)
    return tuple(have if want is None else want for want, have in zip(wanted, input.shape[-n:]))


def adaptive_avg_pool1d(input, output_size):
    _check_1d("adaptive_avg_pool1d", input)
    size = _one_size("adaptive_avg_pool1d", output_size)
    return records.adaptive_avg_pool2d(input.unsqueeze(-2), (1, size)).squeeze(-2)


def adaptive_avg_pool2d(input, output_size):
    _check_rank(input, output_size)
    if isinstance(output_size, (tuple, list)) and len(output_size) != 2:
        raise RuntimeError("adaptive_avg_pool2d: output_size must be 2")
    return records.adaptive_avg_pool2d(input, _output_size(input, output_size, 2))


def adaptive_avg_pool3d(input, output_size):
    if isinstance(output_size, (tuple, list)) and len(output_size) != 3:
        raise RuntimeError("adaptive_avg_pool3d: output_size must be 3")
    return records.adaptive_avg_pool3d(input, _output_size(input, output_size, 3))


def _check_not_empty(name, input, n):
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got: {list(input.shape)}")
    for dim in range(input.dim() - n - 1, input.dim()):
        if input.size(dim) == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes "
                f"{list(input.shape)} with dimension {dim} being empty"
            )


def _adaptive_max_pool(input, output_size, n):
    name = f"adaptive_max_pool{n}d"
    if n == 1:
        output_size = _one_size(name, output_size)
    elif isinstance(output_size, (tuple, list)) and len(output_size) != n:
        raise RuntimeError(f"{name}(): internal error: output_size.size() must be {n}")
    sizes = _output_size(input, output_size, n)
    _check_not_empty(name, input, n)
    if min(sizes) < 0:
        shape = [*input.shape[:-n], *sizes]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {shape}")
    check_room((*input.shape[:-n], *sizes), input.dtype)
    if n == 1:
        out, indices = records.adaptive_max_pool2d_with_indices(input.unsqueeze(-2), (1, *sizes))
        return out.squeeze(-2), indices.squeeze(-2)
    pool = records.adaptive_max_pool2d_with_indices if n == 2 else records.adaptive_max_pool3d_with_indices
    out, indices = pool(input, sizes)
    return out, indices


def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    return _adaptive_max_pool(input, output_size, 1)


def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    return _adaptive_max_pool(input, output_size, 2)


def adaptive_max_pool3d_with_indices(input, output_size, return_indices=False):
    return _adaptive_max_pool(input, output_size, 3)


def adaptive_max_pool1d(input, output_size, return_indices=False):
    both = _adaptive_max_pool(input, output_size, 1)
    return both if return_indices else both[0]


def adaptive_max_pool2d(input, output_size, return_indices=False):
    both = _adaptive_max_pool(input, output_size, 2)
    return both if return_indices else both[0]


def adaptive_max_pool3d(input, output_size, return_indices=False):
    both = _adaptive_max_pool(input, output_size, 3)
    return both if return_indices else both[0]


# ---- windows at random places ---------------------------------------------------------------------------------------
SIZE_NAMES = ("time", "height", "width")


def _check_samples(samples, input, n):
    channels = input.size(-n - 1)
    if samples.dtype != input.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.dim() != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.dim()}")
    if samples.size(0) < (input.size(0) if input.dim() == n + 2 else 1):
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.size(1) != channels:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if samples.size(2) != n:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {n}; got {samples.size(2)}.")


def _fractional_max_pool(input, kernel_size, output_size, output_ratio, samples, n):
    input, samples = C._in_single(input, samples)
    name = f"fractional_max_pool{n}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if input.dim() < n + 1:
        have = input.dim()
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-have}, {have - 1}], but got {-n - 1})"
        )
    _check_not_empty(name, input, n)
    kernel = repeated(kernel_size, n)
    if output_size is None:
        ratios = repeated(output_ratio, n)
        output_size = [int(size * ratio) for size, ratio in zip(input.shape[-n:], ratios)]
    sizes = repeated(output_size, n)
    for what, size, out, length in zip(SIZE_NAMES[-n:], input.shape[-n:], sizes, kernel):
        if out + length - 1 > size:
            raise RuntimeError(f"{name}(): pool {what} {length} too large relative to input {what} {size}")
    batched = input.dim() == n + 2
    if samples is None:
        shape = (input.size(0) if batched else 1, input.size(-n - 1), n)
        samples = C.rand(shape, device=input.device, dtype=input.dtype)
    _check_samples(samples, input, n)
    samples = samples[: input.size(0)] if batched else samples[0]
    order = (1, 0) if n == 2 else (0, 1, 2)  # of a plane the first number is that of the width
    numbers = [samples[..., i] for i in order]
    values, indices = largest(
        C._ops.kinked(input), [fractional(*each) for each in zip(input.shape[-n:], sizes, kernel, numbers)]
    )
    return C._ops.named(values, f"FractionalMaxPool{n}DBackward0"), indices


def fractional_max_pool2d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    return _fractional_max_pool(input, kernel_size, output_size, output_ratio, _random_samples, 2)


def fractional_max_pool3d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    return _fractional_max_pool(input, kernel_size, output_size, output_ratio, _random_samples, 3)


def fractional_max_pool2d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    both = _fractional_max_pool(input, kernel_size, output_size, output_ratio, _random_samples, 2)
    return both if return_indices else both[0]


def fractional_max_pool3d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    both = _fractional_max_pool(input, kernel_size, output_size, output_ratio, _random_samples, 3)
    return both if return_indices else both[0]


# ---- maxima put back where they were --------------------------------------------------------------------------------
def _unpooled_size(input, kernel, stride, padding, output_size, n):
    default = [(size - 1) * s + k - 2 * p for size, k, s, p in zip(input.shape[-n:], kernel, stride, padding)]
    if output_size is None:
        return default
    output_size = list(output_size)
    if len(output_size) == n + 2:
        output_size = output_size[2:]
    if len(output_size) != n:
        raise ValueError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of "
            f"'{len(output_size)}'"
        )
    for i, (size, usual, s) in enumerate(zip(output_size, default, stride)):
        if not usual - s < size < usual + s:
            raise ValueError(
                f'invalid output_size "{tuple(output_size)}" (dim {i} must be between {usual - s} and {usual + s})'
            )
    return output_size


def _max_unpool(input, indices, kernel_size, stride, padding, output_size, n):
    input = C._in_single(input)
    kernel, padding = repeated(kernel_size, n), repeated(padding, n)
    stride = kernel if stride is None else repeated(stride, n)
    if input.dim() not in (n + 1, n + 2):
        more = int(n == 1)  # a row is unpooled as an image
        raise RuntimeError(
            f"Input to max_unpooling{n + more}d should be a {n + 1 + more}d or {n + 2 + more}d Tensor, but got a tensor "
            f"with {input.dim() + more} dimensions."
        )
    if n == 3 and min(stride) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(stride)}")
    sizes = _unpooled_size(input, kernel, stride, padding, output_size, n)
    if indices.dtype != C.int64:
        raise RuntimeError(f"elements in indices should be type int64 but got: {scalar_type(indices)}")
    if indices.shape != input.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got indices "
            f"tensor with shape: {list(indices.shape)}"
        )
    _check_not_empty(f"max_unpooling{n}d", input, n)
    lead = input.shape[:-n]
    pixels = 1
    for size in sizes:
        pixels *= size
    empty = C.zeros(*lead, pixels, dtype=input.dtype)
    result = empty.scatter(-1, indices.flatten(-n), input.flatten(-n)).view(*lead, *sizes)
    return C._ops.named(result, "SqueezeBackward1" if n == 1 else f"MaxUnpool{n}DBackward0")


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _max_unpool(input, indices, kernel_size, stride, padding, output_size, 1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _max_unpool(input, indices, kernel_size, stride, padding, output_size, 2)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _max_unpool(input, indices, kernel_size, stride, padding, output_size, 3)
