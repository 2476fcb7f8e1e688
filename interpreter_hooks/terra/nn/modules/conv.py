"""Convolution layers."""

import math

import _terra_C as C

from .. import functional as F
from .. import init
from ..functional.convolution import same_padding
from ..parameter import Parameter
from .module import Module
from .utils import ntuple

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What convolutions of any number of dimensions share."""

    def __init__(
        self, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, device,
        dtype, transposed=False, output_padding=(0,),
    ):  # fmt: skip
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of ('same', 'valid')")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {PADDING_MODES}, but got padding_mode='{padding_mode}'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.groups = groups
        self.padding_mode = padding_mode
        self.transposed = transposed
        self.output_padding = output_padding
        self._reversed_padding_repeated_twice = _pad_argument(padding, kernel_size, dilation)
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        self.weight = Parameter(C.empty((first, second // groups, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(C.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * len(self.padding):
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.dilation):
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * len(self.output_padding):
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


def _pad_argument(padding, kernel_size, dilation):
    """The padding as F.pad wants it: last dimension first, before and after."""
    if padding == "same":
        pairs = same_padding(kernel_size, dilation)
    elif padding == "valid":
        pairs = [(0, 0)] * len(kernel_size)
    else:
        pairs = [(p, p) for p in padding]
    return [number for before_after in reversed(pairs) for number in before_after]


class _Conv(_ConvNd):
    """Cross-correlation, of which subclasses give the number of dimensions and the function."""

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
        padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        repeat = ntuple(self._dims)
        padding = padding if isinstance(padding, str) else repeat(padding)
        super().__init__(
            in_channels, out_channels, repeat(kernel_size), repeat(stride), padding, repeat(dilation), groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input, weight, bias):
        """With other kernels, for layers that make theirs as they are called."""
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), 0
        return self._convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Conv):
    """Cross-correlation of [N, C, L] with `out_channels` kernels."""

    _dims = 1

    def _convolve(self, *arguments):
        return F.conv1d(*arguments)


class Conv2d(_Conv):
    """Cross-correlation of [N, C, H, W] with `out_channels` kernels."""

    _dims = 2

    def _convolve(self, *arguments):
        return F.conv2d(*arguments)


class Conv3d(_Conv):
    """Cross-correlation of [N, C, D, H, W] with `out_channels` kernels."""

    _dims = 3

    def _convolve(self, *arguments):
        return F.conv3d(*arguments)


class _ConvTransposeNd(_ConvNd):
    """What transposes of any number of dimensions share."""

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
        dilation=1, padding_mode="zeros", device=None, dtype=None,
    ):  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        repeat = ntuple(self._dims)
        super().__init__(
            in_channels, out_channels, repeat(kernel_size), repeat(stride), repeat(padding), repeat(dilation), groups,
            bias, padding_mode, device, dtype, True, repeat(output_padding),
        )  # fmt: skip

    def _output_padding(self, input, output_size):
        """The padding that gives output_size, where one is asked for."""
        if output_size is None:
            return self.output_padding
        n = len(self.kernel_size)
        before = input.dim() - n
        if len(output_size) not in (n, n + before):
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or {n + before} elements (got "
                f"{len(output_size)})"
            )
        wanted = tuple(output_size)[-n:]
        covered = [self.dilation[i] * (self.kernel_size[i] - 1) + 1 for i in range(n)]
        smallest = [
            (input.size(i - n) - 1) * self.stride[i] - 2 * self.padding[i] + covered[i] for i in range(n)
        ]
        largest = [size + stride - 1 for size, stride in zip(smallest, self.stride)]
        if any(size < least or size > most for size, least, most in zip(wanted, smallest, largest)):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from {smallest} to {largest} (for an "
                f"input of {input.shape[before:]})"
            )
        return tuple(size - least for size, least in zip(wanted, smallest))

    def forward(self, input, output_size=None):
        padding = self._output_padding(input, output_size)
        return self._convolve(
            input, self.weight, self.bias, self.stride, self.padding, padding, self.groups, self.dilation
        )


class ConvTranspose1d(_ConvTransposeNd):
    """The gradient of Conv1d with respect to its input, as a layer."""

    _dims = 1

    def _convolve(self, *arguments):
        return F.conv_transpose1d(*arguments)


class ConvTranspose2d(_ConvTransposeNd):
    """The gradient of Conv2d with respect to its input, as a layer."""

    _dims = 2

    def _convolve(self, *arguments):
        return F.conv_transpose2d(*arguments)


class ConvTranspose3d(_ConvTransposeNd):
    """The gradient of Conv3d with respect to its input, as a layer."""

    _dims = 3

    def _convolve(self, *arguments):
        return F.conv_transpose3d(*arguments)
