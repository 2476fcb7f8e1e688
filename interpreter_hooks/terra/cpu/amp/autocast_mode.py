"""autocast by its old name."""

from ... import amp as _amp
from ..._C import bfloat16
from ..._warnings import warn_of_old_name as _warn_of_old_name

__all__ = ["autocast"]


class autocast(_amp.autocast):
    def __init__(self, enabled=True, dtype=bfloat16, cache_enabled=True):
        _warn_of_old_name("torch.cpu.amp.autocast", "torch.amp.autocast('cpu', args...)")
        super().__init__("cpu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)
