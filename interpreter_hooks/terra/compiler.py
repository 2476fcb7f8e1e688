"""torch.compiler: marks for torch.compile. Terra captures hot code by itself, so most of them have nothing to say to it."""

import contextlib

from ._functions import compile  # noqa: F401
from ._names import lazily


def is_compiling():
    return False


def is_dynamo_compiling():
    return False


def is_exporting():
    return False


def reset():
    """Forgets what was captured."""
    from . import capture

    capture.reset()


def disable(fn=None, recursive=True, *, reason=None):
    """Runs without capture: a decorator."""
    from . import capture
    from .nn import Module

    if isinstance(fn, Module):
        fn.forward = capture.off(fn.forward)
        return fn
    return capture.off if fn is None else capture.off(fn)


def allow_in_graph(fn):
    return fn


def assume_constant_result(fn):
    return fn


def nested_compile_region(fn=None, *_, **__):
    return fn if fn is not None else lambda function: function


def list_backends(exclude_tags=("debug", "experimental")):
    """The name that stands for Terra's own capture."""
    return ["inductor"]


_default_backend = "inductor"


def set_default_backend(backend):
    global _default_backend
    _default_backend = backend


def get_default_backend():
    return _default_backend


def nonstrict_trace(traceable_fn):
    return traceable_fn


def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False, is_embedded_type=False):
    """A mark for a function that stands for another when that is traced."""
    return lambda function: function


def cudagraph_mark_step_begin():
    """There are no CUDA graphs."""


@contextlib.contextmanager
def set_stance(stance="default", *_, **__):
    """'force_eager' runs without capture inside; the other stances change nothing."""
    if stance != "force_eager":
        yield
        return
    from . import capture

    with capture.mode("off"):
        yield


__getattr__ = lazily(__name__)
