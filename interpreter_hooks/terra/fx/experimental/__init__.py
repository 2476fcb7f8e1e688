"""torch.fx.experimental: what programs ask PyTorch's compiler about itself."""

from ..._names import lazily

__getattr__ = lazily(__name__, ("proxy_tensor",))
