"""Names of types in messages."""

import _terra_C as C


def typename(value):
    """'torch.FloatTensor' for tensors, the qualified class name for everything else."""
    if isinstance(value, C.Tensor):
        return value.type()
    kind = value if hasattr(value, "__qualname__") else type(value)
    module = getattr(kind, "__module__", None)
    return kind.__qualname__ if module in (None, "builtins") else f"{module}.{kind.__qualname__}"
