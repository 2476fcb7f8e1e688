"""Quantized tensors, and what networks of them compute; `torch.ao` has the modules."""

from .kinds import (  # noqa: F401
    per_channel_affine, per_channel_affine_float_qparams, per_channel_symmetric, per_tensor_affine, per_tensor_symmetric, qscheme,
)  # fmt: skip
from .ops import fused_moving_avg_obs_fake_quant  # noqa: F401
from .tensor import (  # noqa: F401
    _empty_affine_quantized, _empty_per_channel_affine_quantized, _make_per_channel_quantized_tensor,
    _make_per_tensor_quantized_tensor, dequantize, int_repr, q_per_channel_axis, q_per_channel_scales, q_per_channel_zero_points,
    q_scale, q_zero_point, quantize_per_channel, quantize_per_tensor, quantize_per_tensor_dynamic,
)  # fmt: skip
