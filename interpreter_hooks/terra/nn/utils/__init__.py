"""Helpers for training: gradient clipping, parameters as one vector, weights as functions."""

from ..._names import lazily
from .clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from .convert_parameters import parameters_to_vector, vector_to_parameters
from .spectral_norm import remove_spectral_norm, spectral_norm
from .weight_norm import remove_weight_norm, weight_norm
from . import rnn

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector", "remove_spectral_norm",
    "remove_weight_norm", "rnn", "spectral_norm", "vector_to_parameters", "weight_norm",
]  # fmt: skip

__getattr__ = lazily(
    __name__, ("fusion", "init", "memory_format", "parametrizations", "parametrize", "prune", "stateless"),
    {
        ".fusion": ("fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"),
        ".init": ("skip_init",),
        ".memory_format": ("convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"),
    },
)  # fmt: skip
