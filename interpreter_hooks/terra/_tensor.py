"""torch._tensor: where PyTorch keeps Tensor."""

from _terra_C import Tensor  # noqa: F401

from ._names import lazily

__getattr__ = lazily(__name__)
