"""Names of types in messages."""

import _terra_C as C


def typename(value):
    """'torch.FloatTensor' for tensors, the qualified class name for everything else."""
    if isinstance(value, C.Tensor):
        return value.type()
    kind = value if isinstance(value, type) else type(value)
    module = "" if kind.__module__ in ("builtins", "__builtin__", None) else kind.__module__ + "."
    return module + kind.__qualname__
