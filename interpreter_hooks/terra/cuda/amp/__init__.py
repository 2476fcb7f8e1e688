"""torch.cuda.amp: the old names of torch.amp for CUDA. Without CUDA both are switched off, with a warning, as PyTorch's are."""

from .autocast_mode import autocast, custom_bwd, custom_fwd
from .common import amp_definitely_not_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "amp_definitely_not_available", "autocast", "custom_bwd", "custom_fwd"]
