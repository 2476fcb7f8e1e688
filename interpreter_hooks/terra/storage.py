"""torch.storage: memory without a shape is not there as an object; its types are, for isinstance and annotations."""

from ._missing_parts import sentence
from ._names import lazily

_WHY = "Terra shows memory through tensors only; tensor.data_ptr() and torch.frombuffer are there"


class UntypedStorage:
    """There are none: making one raises."""

    __init__ = sentence("torch.UntypedStorage", _WHY)


class TypedStorage:
    """There are none: making one raises."""

    __init__ = sentence("torch.TypedStorage", _WHY)


__getattr__ = lazily(__name__)
