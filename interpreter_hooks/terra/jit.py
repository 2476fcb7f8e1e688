"""torch.jit: marks for a compiler that Terra does without. Hot code is captured as it runs, with or without them.

script and trace give a callable that does what the function does; what they would write into a file is not there."""

import contextlib
import functools
import typing

from ._missing_parts import sentences
from ._names import lazily
from .nn import Module

_T = typing.TypeVar("_T")


class ScriptModule(Module):
    """A module like any other."""


class ScriptFunction:
    """The name of what script() makes of a function: here that is the function itself."""


TopLevelTracedModule = TracedModule = RecursiveScriptModule = ScriptModule


class TracerWarning(Warning):
    """Never given: nothing is fixed by a trace."""


class Error(RuntimeError):
    """Never raised: Python runs."""


class Final(typing.Generic[_T]):
    """Final[int]: an attribute that does not change."""


class Attribute(typing.NamedTuple):
    value: object
    type: object


def script(obj=None, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    """Gives its argument back: a function, a module or a class."""
    return obj


def trace(func=None, example_inputs=None, *_, example_kwarg_inputs=None, **__):
    """Calls it once with the examples, as a trace would, and gives it back: control flow stays that of Python."""
    _try(func, example_inputs, example_kwarg_inputs)
    return func


def _try(func, example_inputs, example_kwarg_inputs=None):
    from ._C import Tensor, no_grad

    with no_grad():
        if example_kwarg_inputs is not None:
            func(**example_kwarg_inputs)
        elif example_inputs is not None:
            func(*([example_inputs] if isinstance(example_inputs, (Tensor, dict)) else example_inputs))


def trace_module(mod, inputs, *_, **__):
    """Calls the methods once with their examples and gives the module back."""
    for name, example in inputs.items():
        _try(getattr(mod, name), example)
    return mod


def script_if_tracing(fn):
    return fn


def script_method(fn):
    return fn


def export(fn):
    return fn


def interface(obj):
    return obj


def ignore(drop=False, **_):
    return drop if callable(drop) else lambda fn: fn


def unused(fn):
    return fn


def annotate(the_type, the_value):
    return the_value


def isinstance(obj, target_type):
    import builtins

    return builtins.isinstance(obj, typing.get_origin(target_type) or target_type)


def is_scripting():
    return False


def is_tracing():
    return False


def freeze(mod, preserved_attrs=None, optimize_numerics=True):
    return mod


def optimize_for_inference(mod, other_methods=None):
    return mod


def enable_onednn_fusion(enabled):
    """Fusion is the engine's own."""


def onednn_fusion_enabled():
    return False


def set_fusion_strategy(strategy):
    return strategy


def fork(func, *args, **kwargs):
    """Calls at once; wait() gives the result."""
    return functools.partial(_given, func(*args, **kwargs))


def _given(value):
    return value


def wait(future):
    return future()


@contextlib.contextmanager
def optimized_execution(should_optimize):
    yield


@contextlib.contextmanager
def fuser(name):
    yield


class strict_fusion(contextlib.nullcontext):
    """A context in which everything would have to fuse."""


_FILES = "Terra does not read or write TorchScript files; torch.save(model.state_dict()) and torch.load are there"
globals().update(sentences("torch.jit", ("load", "save"), _FILES))
globals().update(sentences("torch.jit", ("CompilationUnit", "export_opnames")))

__getattr__ = lazily(__name__)
