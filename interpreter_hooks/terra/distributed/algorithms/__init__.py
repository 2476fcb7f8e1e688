"""torch.distributed.algorithms."""

from ..._names import lazily

__getattr__ = lazily(__name__, ("_checkpoint", "join"))
