"""Layers of quantized tensors."""

import _terra_C as C

from ...._names import lazily
from ...._quantized import (
    _empty_affine_quantized, _make_per_channel_quantized_tensor, _make_per_tensor_quantized_tensor,
    per_channel_affine_float_qparams, quantize_per_channel, quantize_per_tensor,
)  # fmt: skip
from ...._quantized import ops
from ...._quantized.kinds import limits
from .... import nn
from ....nn import Module
from ....nn.utils.fusion import fuse_conv_bn_weights
from ..intrinsic import _FusedModule

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "DeQuantize", "Dropout", "ELU", "FXFloatFunctional", "FloatFunctional", "Hardswish",
    "LeakyReLU", "Linear", "QFunctional", "Quantize", "ReLU6",
]  # fmt: skip


class Quantize(Module):
    """Numbers to quantized ones."""

    def __init__(self, scale, zero_point, dtype, factory_kwargs=None):
        super().__init__()
        self.register_buffer("scale", C.tensor([float(scale)]))
        self.register_buffer("zero_point", C.tensor([int(zero_point)], dtype=C.int64))
        self.dtype = dtype

    def forward(self, X):  # noqa: N803
        return quantize_per_tensor(X, float(self.scale), int(self.zero_point), self.dtype)

    @staticmethod
    def from_float(mod, use_precomputed_fake_quant=False):
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        return Quantize(scale.float().item(), zero_point.long().item(), mod.activation_post_process.dtype)

    def extra_repr(self):
        return f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}"


class DeQuantize(Module):
    """Quantized numbers to what they stand for."""

    def forward(self, Xq):  # noqa: N803
        return Xq.dequantize()

    @staticmethod
    def from_float(mod, use_precomputed_fake_quant=False):
        return DeQuantize()


def quantized_weight(weight, observer):
    """A weight by what an observer, or a module that rounds, has seen of it."""
    scale, zero_point = observer.calculate_qparams()
    if not observer.qscheme.per_channel:
        made = quantize_per_tensor(weight, float(scale), int(zero_point), C.qint8)
    elif observer.qscheme is per_channel_affine_float_qparams:
        made = quantize_per_channel(weight, scale.float(), zero_point.float(), observer.ch_axis, observer.dtype)
    else:
        made = quantize_per_channel(weight, scale.double(), zero_point.long(), observer.ch_axis, C.qint8)
    observer = getattr(observer, "activation_post_process", observer)
    low, high = limits(made.dtype)
    if observer.quant_min <= low and observer.quant_max >= high:
        return made
    values = made.int_repr().clamp(observer.quant_min, observer.quant_max)
    if observer.qscheme.per_channel:
        return _make_per_channel_quantized_tensor(values, scale.double(), zero_point.long(), observer.ch_axis)
    return _make_per_tensor_quantized_tensor(values, float(scale), int(zero_point))


class LinearPackedParams(Module):
    """Weight and bias of a linear layer, as one entry of a state."""

    def __init__(self, dtype=C.qint8):
        super().__init__()
        self.dtype, self._packed_params = dtype, (None, None)

    def set_weight_bias(self, weight, bias):
        self._packed_params = weight, bias

    def _weight_bias(self):
        return self._packed_params

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_params"] = self._packed_params

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, *rest):
        self.dtype = state_dict.pop(prefix + "dtype", self.dtype)
        self.set_weight_bias(*state_dict.pop(prefix + "_packed_params"))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *rest)


class _Scaled(Module):
    """A layer whose results have a scale and a zero point."""

    scale, zero_point = 1.0, 0

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = C.tensor(self.scale)
        destination[prefix + "zero_point"] = C.tensor(self.zero_point)

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, *rest):
        self.scale, self.zero_point = float(state_dict.pop(prefix + "scale")), int(state_dict.pop(prefix + "zero_point"))
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *rest)

    def _take_scale(self, observer):
        scale, zero_point = observer.calculate_qparams()
        self.scale, self.zero_point = float(scale), int(zero_point)


def observed(mod):
    """(the layer, the observer of its weight) of a module that was prepared; the observer sees the weight once more."""
    if hasattr(mod, "weight_fake_quant"):
        observer = mod.weight_fake_quant
    else:
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        observer = mod.qconfig.weight()
        mod = mod[0] if isinstance(mod, _FusedModule) else mod
    observer(mod.weight)
    if observer.dtype != C.qint8:
        raise AssertionError(f"Weight observer must have dtype torch.qint8, got {observer.dtype}")
    return mod, observer


class Linear(_Scaled):
    """Of quantized tensors."""

    _relu = False

    def __init__(self, in_features, out_features, bias_=True, dtype=C.qint8):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self._packed_params = LinearPackedParams(dtype)
        weight = _empty_affine_quantized([out_features, in_features], scale=1, zero_point=0, dtype=C.qint8)
        self.set_weight_bias(weight, C.zeros(out_features) if bias_ else None)

    def _get_name(self):
        return "QuantizedLinear"

    def extra_repr(self):
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, scale={self.scale}, zero_point={self.zero_point}, "
            f"qscheme={self.weight().qscheme()}"
        )

    def __repr__(self):
        return f"{self._get_name()}({self.extra_repr()})"

    def weight(self):
        return self._packed_params._packed_params[0]

    def bias(self):
        return self._packed_params._packed_params[1]

    def set_weight_bias(self, w, b):
        self._packed_params.set_weight_bias(w, b)

    def _weight_bias(self):
        return self._packed_params._weight_bias()

    def forward(self, x):
        return ops.linear(x, self.weight(), self.bias(), self.scale, self.zero_point, self._relu)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        activation = mod.activation_post_process
        layer, observer = observed(mod)
        made = cls(layer.in_features, layer.out_features)
        made.set_weight_bias(quantized_weight(layer.weight.float(), observer), layer.bias)
        made._take_scale(activation)
        return made


class _Conv(_Scaled):
    """A convolution of quantized tensors."""

    _relu = False

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, padding_mode="zeros", device=None,
        dtype=None,
    ):  # fmt: skip
        super().__init__()
        if padding_mode != "zeros":
            raise NotImplementedError(f"{type(self).__name__}: padding_mode '{padding_mode}' is not in Terra yet")
        self.in_channels, self.out_channels, self.groups, self.padding_mode = in_channels, out_channels, groups, padding_mode
        sizes = [
            (size,) * self._dims if isinstance(size, int) else tuple(size) for size in (kernel_size, stride, padding, dilation)
        ]
        self.kernel_size, self.stride, self.padding, self.dilation = sizes
        shape = [out_channels, in_channels // groups, *self.kernel_size]
        weight = _empty_affine_quantized(shape, scale=1, zero_point=0, dtype=C.qint8)
        self.set_weight_bias(weight, C.zeros(out_channels) if bias else None)

    def set_weight_bias(self, w, b):
        self._packed_params = w, b

    def weight(self):
        return self._packed_params[0]

    def bias(self):
        return self._packed_params[1]

    def _get_name(self):
        return f"Quantized{type(self).__name__}"

    def extra_repr(self):
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, scale={self.scale}, zero_point={self.zero_point}"
        text += f", padding={self.padding}" if any(self.padding) else ""
        text += f", dilation={self.dilation}" if any(d != 1 for d in self.dilation) else ""
        text += f", groups={self.groups}" if self.groups != 1 else ""
        return text + (", bias=False" if self.bias() is None else "")

    def forward(self, input):
        sizes = (self.stride, self.padding, self.dilation, self.groups)
        return ops.convolution(input, *self._packed_params, *sizes, self.scale, self.zero_point, self._relu)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        destination[prefix + "weight"], destination[prefix + "bias"] = self._packed_params
        super()._save_to_state_dict(destination, prefix, keep_vars)

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        self.set_weight_bias(state_dict.pop(prefix + "weight"), state_dict.pop(prefix + "bias"))
        super()._load_from_state_dict(state_dict, prefix, *rest)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        activation = mod.activation_post_process
        if hasattr(mod, "bn"):  # of training: the norm goes into the weight
            bn = mod.bn
            mod.weight, mod.bias = fuse_conv_bn_weights(
                mod.weight, mod.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
            )
        layer, observer = observed(mod)
        made = cls(
            layer.in_channels, layer.out_channels, layer.kernel_size, layer.stride, layer.padding, layer.dilation, layer.groups,
            layer.bias is not None, layer.padding_mode,
        )  # fmt: skip
        made.set_weight_bias(quantized_weight(layer.weight.float(), observer), layer.bias)
        made._take_scale(activation)
        return made


class Conv1d(_Conv):
    """Of quantized tensors."""

    _dims = 1


class Conv2d(_Conv):
    """Of quantized tensors."""

    _dims = 2


class Conv3d(_Conv):
    """Of quantized tensors."""

    _dims = 3


class Dropout(nn.Dropout):
    """Hands its input on."""

    def forward(self, input):
        return input

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        return cls(mod.p, mod.inplace)


class ReLU6(nn.ReLU6):
    """Of quantized tensors, which keep their scale."""

    def _get_name(self):
        return "QuantizedReLU6"

    @staticmethod
    def from_float(mod, use_precomputed_fake_quant=False):
        return ReLU6(mod.inplace)


def _activation(kind, arguments):
    """A layer with results of a scale of their own."""

    class Activation(_Scaled, kind):
        def __init__(self, scale, zero_point, *args, **kwargs):
            kind.__init__(self, *args, **kwargs)
            self.scale, self.zero_point = scale, zero_point

        def _get_name(self):
            return f"Quantized{kind.__name__}"

        def forward(self, input):
            return quantize_per_tensor(kind.forward(self, input.dequantize()), self.scale, self.zero_point, input.dtype)

        @classmethod
        def from_float(cls, mod, use_precomputed_fake_quant=False):
            scale, zero_point = mod.activation_post_process.calculate_qparams()
            return cls(float(scale), int(zero_point), *(getattr(mod, name) for name in arguments))

    Activation.__name__ = Activation.__qualname__ = kind.__name__
    Activation.__doc__ = f"{kind.__name__} of quantized tensors."
    return Activation


Hardswish, ELU, LeakyReLU = (
    _activation(nn.Hardswish, ()),
    _activation(nn.ELU, ("alpha",)),
    _activation(nn.LeakyReLU, ("negative_slope",)),
)


class FloatFunctional(Module):
    """Functions of two tensors as a module, so that what they give is watched: add, mul, cat, add_relu, matmul, add_scalar, mul_scalar."""

    def __init__(self):
        super().__init__()
        self.activation_post_process = nn.Identity()

    def forward(self, x):
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the underlying operation")

    def add(self, x, y):
        return self.activation_post_process(C.add(x, y))

    def add_scalar(self, x, y):
        return C.add(x, y)

    def mul(self, x, y):
        return self.activation_post_process(C.mul(x, y))

    def mul_scalar(self, x, y):
        return C.mul(x, y)

    def cat(self, x, dim=0):
        return self.activation_post_process(C.cat(x, dim=dim))

    def add_relu(self, x, y):
        return self.activation_post_process(nn.functional.relu(C.add(x, y)))

    def matmul(self, x, y):
        return self.activation_post_process(C.matmul(x, y))


class FXFloatFunctional(FloatFunctional):
    """The same for graphs of fx."""


class QFunctional(_Scaled):
    """The same of quantized tensors."""

    def __init__(self):
        super().__init__()
        self.activation_post_process = nn.Identity()

    def _get_name(self):
        return "QFunctional"

    def extra_repr(self):
        return f"scale={self.scale}, zero_point={self.zero_point}"

    def forward(self, x):
        raise RuntimeError("Functional is not intended to use the 'forward'. Please use the underlying operation")

    def add(self, x, y):
        return ops.add(x, y, self.scale, self.zero_point)

    def add_scalar(self, x, y):
        return ops.add_scalar(x, y)

    def mul(self, x, y):
        return ops.mul(x, y, self.scale, self.zero_point)

    def mul_scalar(self, x, y):
        return ops.mul_scalar(x, y)

    def cat(self, x, dim=0):
        return ops.cat(x, dim, self.scale, self.zero_point)

    def add_relu(self, x, y):
        return ops.add_relu(x, y, self.scale, self.zero_point)

    def matmul(self, x, y):
        return ops.matmul(x, y, self.scale, self.zero_point)

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        made = cls()
        made._take_scale(mod.activation_post_process)
        return made


__getattr__ = lazily(__name__, ("dynamic",))
