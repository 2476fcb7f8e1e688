"""torch.distributed._tensor.experimental: torch.distributed.tensor.experimental under its former name."""

from ...._names import lazily
from ...tensor.experimental import implicit_replication  # noqa: F401

__getattr__ = lazily(__name__)
