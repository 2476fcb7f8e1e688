"""torch._subclasses: tensors without elements, which graphs of PyTorch's compiler are made with. Terra has none."""

from .._names import lazily
from .fake_tensor import FakeTensor, FakeTensorMode  # noqa: F401

__getattr__ = lazily(__name__, ("fake_tensor",))
