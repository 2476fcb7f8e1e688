"""torch.nested: batches of tensors of different sizes."""

from ._names import lazily
from ._nested_tensor import (  # noqa: F401
    as_nested_tensor, masked_select, narrow, nested_tensor, nested_tensor_from_jagged, to_padded_tensor,
)  # fmt: skip

__all__ = ["as_nested_tensor", "masked_select", "narrow", "nested_tensor", "nested_tensor_from_jagged", "to_padded_tensor"]

__getattr__ = lazily(__name__)
