"""functorch.experimental: what became torch.func later."""

from ..func import functionalize, replace_all_batch_norm_modules_  # noqa: F401
