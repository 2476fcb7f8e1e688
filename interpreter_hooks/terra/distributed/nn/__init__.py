"""torch.distributed.nn: collectives that gradients flow through."""

from ..._names import lazily
from .functional import *  # noqa: F401,F403

__getattr__ = lazily(__name__)
