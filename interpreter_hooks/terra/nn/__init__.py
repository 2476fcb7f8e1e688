"""terra.nn: modules, their functional forms, initial values."""

from . import functional, init, parameter, utils
from .modules import *  # noqa: F401,F403
from .modules import module as _module
from .parameter import Parameter

modules = __import__(__name__ + ".modules", fromlist=["modules"])

__all__ = ["Parameter", "functional", "init", "modules", "parameter", "utils"]
del _module
