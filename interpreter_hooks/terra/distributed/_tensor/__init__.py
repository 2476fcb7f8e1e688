"""torch.distributed._tensor: what torch.distributed.tensor was called before."""

from ..._names import lazily
from ..tensor import *  # noqa: F401,F403
from ..tensor import DTensor, Partial, Placement, Replicate, Shard, distribute_module, distribute_tensor  # noqa: F401

__getattr__ = lazily(__name__, ("experimental",))
