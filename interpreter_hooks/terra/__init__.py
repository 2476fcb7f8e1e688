"""Terra: PyTorch's names over an engine that runs imperative programs as graphs.

Tensors and ops come from the C module `_terra_C`; what is made of them is in this package."""

import importlib

import _terra_C as _engine
from _terra_C import *  # noqa: F401,F403
from _terra_C import _dirichlet_grad, _sample_dirichlet, _standard_gamma, _standard_gamma_grad  # noqa: F401

_engine._require_main_interpreter()

from . import _functions, _tensor_methods  # noqa: F401
from ._functions import *  # noqa: F401,F403
from ._legacy import TYPES as _LEGACY_TYPES
from ._overridable import offer as _offer
from .version import __version__

globals().update(_LEGACY_TYPES)
_offer(globals(), (*_functions.__all__, "as_tensor", "asarray", "tensor"))

_SUBMODULES = (
    "accelerator", "amp", "autograd", "backends", "capture", "cpu", "cuda", "distributions", "linalg", "mps", "nn", "optim", "random",
    "recursive", "serialization", "sparse", "special", "testing", "torch_version", "utils", "version", "vision",
)  # fmt: skip
_FROM_SUBMODULES = {
    "save": "serialization", "load": "serialization", "autocast": "amp", "explain": "capture", "freeze": "capture",
}  # fmt: skip


def __getattr__(name):
    """Submodules are imported when they are first used: `import terra` alone stays fast."""
    if name in _SUBMODULES:
        return importlib.import_module("." + name, __spec__.name)
    if name in _FROM_SUBMODULES:
        value = getattr(importlib.import_module("." + _FROM_SUBMODULES[name], __spec__.name), name)
        globals()[name] = value
        return value
    from ._names import find

    return find(name)


def _known_as(name):
    """The package is imported by another name: as `torch`, under --torch. Programs look names up from torch.__name__ on, ask
    the types of values which library they are of, and compare torch.__version__ with PyTorch's versions."""
    from . import torch_version, version

    for value in list(globals().values()):
        if isinstance(value, type) and value.__module__ == __name__:
            value.__module__ = name
    version.__version__ = version.torch
    globals().update(__name__=name, __version__=torch_version.__version__)


def __dir__():
    """With the names that are looked up when they are first used: some programs copy all that a module says it has."""
    from ._names import names

    return {*globals(), *_SUBMODULES, *_FROM_SUBMODULES, *names()}
