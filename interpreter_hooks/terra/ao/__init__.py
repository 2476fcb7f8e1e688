"""torch.ao: quantization under its other name."""

from .._names import lazily

__getattr__ = lazily(__name__, ("quantization",))
