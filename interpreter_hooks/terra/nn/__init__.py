"""terra.nn: modules, their functional forms, initial values."""

from .._names import lazily
from . import _reduction, functional, init, modules, parameter, utils  # noqa: F401
from .modules import *  # noqa: F401,F403
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "factory_kwargs", "functional", "init",
    "modules", "parameter", "utils", *modules.__all__,
]  # fmt: skip

FACTORY_KEYS = ("dtype", "device", "memory_format")


def factory_kwargs(kwargs):
    """What of a layer's keywords goes to the functions that make its tensors: its own, and those under the keyword
    factory_kwargs. Others are an error."""
    if kwargs is None:
        return {}
    unexpected = kwargs.keys() - {"factory_kwargs", *FACTORY_KEYS}
    if unexpected:
        raise TypeError(f"unexpected kwargs {unexpected}")
    result = dict(kwargs.get("factory_kwargs", {}))
    for key in FACTORY_KEYS:
        if key in kwargs:
            if key in result:
                raise TypeError(f"{key} specified twice, in **kwargs and in factory_kwargs")
            result[key] = kwargs[key]
    return result


__getattr__ = lazily(__name__, ("attention", "common_types", "grad", "parallel"), {".parallel": ("DataParallel",)})
