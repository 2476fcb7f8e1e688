"""Sequences of quantized layers that run as one."""

from ...._names import lazily
from .. import quantized

__all__ = ["ConvReLU1d", "ConvReLU2d", "ConvReLU3d", "LinearReLU"]


class LinearReLU(quantized.Linear):
    """Linear and ReLU of quantized tensors."""

    _relu = True

    def _get_name(self):
        return "QuantizedLinearReLU"


class ConvReLU1d(quantized.Conv1d):
    """Conv1d and ReLU of quantized tensors."""

    _relu = True


class ConvReLU2d(quantized.Conv2d):
    """Conv2d and ReLU of quantized tensors."""

    _relu = True


class ConvReLU3d(quantized.Conv3d):
    """Conv3d and ReLU of quantized tensors."""

    _relu = True


__getattr__ = lazily(__name__)
