"""Terra: PyTorch's names over an engine that runs imperative programs as graphs.

Tensors and ops come from the C module `_terra_C`; what is made of them is in this package."""

import importlib

import _terra_C as _engine
from _terra_C import *  # noqa: F401,F403
from _terra_C import _dirichlet_grad, _sample_dirichlet, _standard_gamma, _standard_gamma_grad  # noqa: F401

_engine._require_main_interpreter()

from . import _tensor_methods  # noqa: F401
from ._functions import *  # noqa: F401,F403
from ._legacy import TYPES as _LEGACY_TYPES
from .version import __version__

globals().update(_LEGACY_TYPES)

_SUBMODULES = (
    "accelerator", "amp", "autograd", "backends", "capture", "cpu", "cuda", "distributions", "linalg", "mps", "nn", "optim", "random",
    "recursive", "serialization", "sparse", "special", "testing", "utils", "version", "vision",
)  # fmt: skip
_FROM_SUBMODULES = {
    "save": "serialization", "load": "serialization", "autocast": "amp", "explain": "capture", "freeze": "capture",
}  # fmt: skip


def __getattr__(name):
    """Submodules are imported when they are first used: `import terra` alone stays fast."""
    if name in _SUBMODULES:
        return importlib.import_module("." + name, __name__)
    if name in _FROM_SUBMODULES:
        value = getattr(importlib.import_module("." + _FROM_SUBMODULES[name], __name__), name)
        globals()[name] = value
        return value
    from ._names import find

    return find(name)


def __dir__():
    """With the names that are looked up when they are first used: some programs copy all that a module says it has."""
    from ._names import names

    return {*globals(), *_SUBMODULES, *_FROM_SUBMODULES, *names()}
