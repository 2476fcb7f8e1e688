"""torch.ao.nn: the layers."""

from ..._names import lazily

__getattr__ = lazily(__name__, ("intrinsic", "qat", "quantized"))
