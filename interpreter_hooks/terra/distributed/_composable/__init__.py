"""torch.distributed._composable: ways to lay out a module over processes that are called on it."""

from ..._names import lazily
from ..fsdp import fully_shard  # noqa: F401

__getattr__ = lazily(__name__, ("fsdp",))
