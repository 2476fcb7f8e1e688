"""GradScaler by its old name."""

from ... import amp as _amp
from ..._warnings import warn_of_old_name as _warn_of_old_name

__all__ = ["GradScaler"]


class GradScaler(_amp.GradScaler):
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        _warn_of_old_name("torch.cpu.amp.GradScaler", "torch.amp.GradScaler('cpu', args...)")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
