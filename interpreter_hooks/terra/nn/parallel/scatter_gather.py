"""Parts of a batch on several devices: there are none, and what needs one says so."""

from ..._missing_parts import sentences

__all__ = ["gather", "scatter", "scatter_kwargs"]

WHY = "Terra has one device, on which there is nothing to divide: call the module itself"
globals().update(sentences("torch.nn.parallel", __all__, WHY))


def is_namedtuple(value):
    return isinstance(value, tuple) and hasattr(value, "_asdict") and hasattr(value, "_fields")
