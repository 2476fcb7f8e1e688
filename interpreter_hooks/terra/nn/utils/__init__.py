"""Helpers for training: gradient clipping, parameters as one vector, weights as functions."""

from ..._names import lazily
from .clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from .convert_parameters import parameters_to_vector, vector_to_parameters
from . import rnn

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector", "rnn",
    "vector_to_parameters",
]  # fmt: skip

__getattr__ = lazily(
    __name__, ("fusion", "memory_format", "parametrizations", "parametrize", "prune", "stateless"),
    {
        "._weight_norm": ("weight_norm", "remove_weight_norm"), "._spectral_norm": ("spectral_norm", "remove_spectral_norm"),
        ".fusion": ("fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"),
        "._init": ("skip_init",),
        ".memory_format": ("convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"),
    },
)  # fmt: skip
