"""GradScaler by its old name."""

from ... import amp as _amp
from ..._warnings import warn_of_old_name as _warn_of_old_name
from ...amp.grad_scaler import OptState  # noqa: F401: one of its old names

__all__ = ["GradScaler"]


class GradScaler(_amp.GradScaler):
    def __init__(self, init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        _warn_of_old_name("torch.cuda.amp.GradScaler", "torch.amp.GradScaler('cuda', args...)")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
