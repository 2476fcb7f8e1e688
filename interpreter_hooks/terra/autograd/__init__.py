"""terra.autograd: gradients as functions, and functions with gradients of their own."""

from _terra_C import (
    backward,
    enable_grad,
    grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)

from .._names import lazily
from . import functional
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .function import Function
from .gradcheck import gradcheck, gradgradcheck
from .variable import Variable

__all__ = [
    "Function", "Variable", "backward", "detect_anomaly", "enable_grad", "functional", "grad", "gradcheck",
    "gradgradcheck", "inference_mode", "is_grad_enabled", "no_grad", "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip

__getattr__ = lazily(__name__, ("forward_ad", "grad_mode", "graph", "profiler", "profiler_util"), {".profiler_util": ("DeviceType",)})
