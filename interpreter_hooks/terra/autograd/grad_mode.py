"""The contexts of the gradient mode, under the module's old name."""

from _terra_C import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]
