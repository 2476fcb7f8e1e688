"""torch.distributed.fsdp.fully_sharded_data_parallel: the same names, where older programs look for them."""

from . import *  # noqa: F401,F403
from . import FullyShardedDataParallel, ShardingStrategy, StateDictType  # noqa: F401
from ..._names import lazily

__getattr__ = lazily(__name__)
