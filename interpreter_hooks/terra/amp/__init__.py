"""Mixed precision: a context in which calls convert their operands, and the scaler of losses.

`autocast("cpu")` computes products in bfloat16 and what needs it in float32, as PyTorch's does. Weights are converted
where they are used: there is no cache of converted ones. `autocast("cuda")` is off without CUDA, with a warning."""

from .autocast_mode import (
    autocast,
    autocast_decrement_nesting,
    autocast_increment_nesting,
    clear_autocast_cache,
    custom_bwd,
    custom_fwd,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    get_autocast_gpu_dtype,
    is_autocast_available,
    is_autocast_cache_enabled,
    is_autocast_cpu_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_cpu_dtype,
    set_autocast_cpu_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
    set_autocast_gpu_dtype,
)
from .grad_scaler import GradScaler

__all__ = [
    "GradScaler", "autocast", "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
    "custom_bwd", "custom_fwd", "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype",
    "is_autocast_available", "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_autocast_enabled",
    "set_autocast_cache_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled", "set_autocast_dtype",
    "set_autocast_enabled", "set_autocast_gpu_dtype",
]  # fmt: skip
