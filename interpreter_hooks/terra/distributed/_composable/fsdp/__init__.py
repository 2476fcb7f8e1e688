"""torch.distributed._composable.fsdp: the names of torch.distributed.fsdp, as they were called before."""

from ...._names import lazily
from ...fsdp import FSDPModule, fully_shard  # noqa: F401

__getattr__ = lazily(__name__)
