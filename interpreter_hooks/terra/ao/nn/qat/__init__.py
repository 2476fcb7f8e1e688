"""Layers whose weights are rounded as quantized ones would be, in training."""

from ...._names import lazily
from ....nn import Conv1d as _Conv1d
from ....nn import Conv2d as _Conv2d
from ....nn import Conv3d as _Conv3d
from ....nn import Linear as _Linear
from ....nn import functional as F
from ..intrinsic import ConvReLU1d, ConvReLU2d, ConvReLU3d, LinearReLU

__all__ = ["Conv1d", "Conv2d", "Conv3d", "Linear"]


class _Rounded:
    """`qconfig.weight` makes the module that rounds the weight."""

    def __init__(self, *args, qconfig=None, **kwargs):
        super().__init__(*args, **kwargs)
        if not qconfig:
            raise AssertionError("qconfig must be provided for QAT module")
        self.qconfig = qconfig
        self.weight_fake_quant = qconfig.weight()

    def forward(self, input):
        return self._of_weight(input, self.weight_fake_quant(self.weight))

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        """Of a module with a qconfig, or of one of those that it begins."""
        if not hasattr(mod, "qconfig") or not mod.qconfig:
            raise AssertionError("Input float module must have a valid qconfig")
        qconfig = mod.qconfig
        mod = mod[0] if isinstance(mod, (ConvReLU1d, ConvReLU2d, ConvReLU3d, LinearReLU)) else mod
        made = cls(*cls._sizes(mod), qconfig=qconfig)
        made.weight, made.bias = mod.weight, mod.bias
        return made


class Linear(_Rounded, _Linear):
    """Linear with a weight that is rounded."""

    _FLOAT_MODULE = _Linear

    @staticmethod
    def _sizes(mod):
        return mod.in_features, mod.out_features, mod.bias is not None

    def _of_weight(self, input, weight):
        return F.linear(input, weight, self.bias)

    def to_float(self):
        made = _Linear(*self._sizes(self))
        made.weight, made.bias = self.weight, self.bias
        return made


def conv_sizes(mod):
    """The arguments of a convolution like that."""
    return (
        mod.in_channels, mod.out_channels, mod.kernel_size, mod.stride, mod.padding, mod.dilation, mod.groups, mod.bias is not None, mod.padding_mode,
    )  # fmt: skip


class _Conv(_Rounded):
    _sizes = staticmethod(conv_sizes)

    def _of_weight(self, input, weight):
        return self._conv_forward(input, weight, self.bias)


class Conv1d(_Conv, _Conv1d):
    """Conv1d with a weight that is rounded."""


class Conv2d(_Conv, _Conv2d):
    """Conv2d with a weight that is rounded."""


class Conv3d(_Conv, _Conv3d):
    """Conv3d with a weight that is rounded."""


__getattr__ = lazily(__name__)
