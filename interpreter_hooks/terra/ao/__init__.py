"""torch.ao: networks of quantized numbers, and how they are made of others."""

from .._names import lazily

__getattr__ = lazily(__name__, ("nn", "quantization"))
