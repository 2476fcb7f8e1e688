"""torch.nested: batches of tensors of different sizes are not there yet. Lists of tensors, and torch.nn.utils.rnn."""

from ._missing_parts import sentences
from ._names import lazily

_WHY = "it is not in Terra yet; torch.nn.utils.rnn.pad_sequence and pack_sequence make one tensor of several"
_NAMES = ("as_nested_tensor", "masked_select", "narrow", "nested_tensor", "nested_tensor_from_jagged", "to_padded_tensor")
globals().update(sentences("torch.nested", _NAMES, _WHY))
__all__ = [*_NAMES]

__getattr__ = lazily(__name__)
