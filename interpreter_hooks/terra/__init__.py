"""Terra: PyTorch's names over an engine that runs imperative programs as graphs.

Tensors and ops come from the C module `_terra_C`; what is made of them is in this package."""

import importlib

import _terra_C as _C
from _terra_C import *  # noqa: F401,F403

from .version import __version__

_SUBMODULES = (
    "accelerator", "amp", "autograd", "backends", "capture", "cuda", "mps", "nn", "optim", "random", "recursive",
    "serialization", "testing", "utils", "version", "vision",
)  # fmt: skip


def __getattr__(name):
    """Submodules are imported when they are first used: `import terra` alone stays fast."""
    if name in _SUBMODULES:
        return importlib.import_module("." + name, __name__)
    if name in ("save", "load"):
        return getattr(importlib.import_module(".serialization", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
