"""torch.cpu.amp: the old names of torch.amp for the CPU."""

from .autocast_mode import autocast
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]
