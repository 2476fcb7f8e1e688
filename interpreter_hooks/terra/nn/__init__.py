"""terra.nn: modules, their functional forms, initial values."""

from .._names import lazily
from . import functional, init, modules, parameter, utils
from .modules import *  # noqa: F401,F403
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "functional", "init", "modules",
    "parameter", "utils", *modules.__all__,
]  # fmt: skip

__getattr__ = lazily(__name__, ("attention", "parallel"), {".parallel": ("DataParallel",)})
