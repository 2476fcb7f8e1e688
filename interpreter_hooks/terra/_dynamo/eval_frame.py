"""torch._dynamo.eval_frame: the class of what torch.compile(module) gives in PyTorch. Here that is the module itself."""

from .._missing_parts import NoInstances
from .._names import lazily


class OptimizedModule(metaclass=NoInstances):
    """A module around a compiled one. No module is one."""


__getattr__ = lazily(__name__)
