"""torch._functorch: where PyTorch keeps the transforms of torch.func."""

from .._names import lazily

__getattr__ = lazily(__name__, ("apis", "eager_transforms", "vmap"))
