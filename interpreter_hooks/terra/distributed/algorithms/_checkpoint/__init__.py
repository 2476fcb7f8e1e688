"""torch.distributed.algorithms._checkpoint."""

from ...._names import lazily

__getattr__ = lazily(__name__, ("checkpoint_wrapper",))
