"""torch._dynamo: the names that programs use of it, over torch.compiler."""

from .._missing_parts import sentences
from .._names import lazily
from ..compiler import (  # noqa: F401
    allow_in_graph,
    assume_constant_result,
    disable,
    is_compiling,
    list_backends,
    reset,
    set_stance,
)
from .eval_frame import OptimizedModule  # noqa: F401

disallow_in_graph = disable


def optimize(backend="inductor", *_, **__):
    """A decorator that gives the function back: hot code is captured without being marked."""
    return lambda function: function


def is_dynamo_supported():
    return True


def reset_code_caches():
    """What was captured holds as long as its guards do."""


def mark_dynamic(t, index, **_):
    """A size that changes is found out."""


maybe_mark_dynamic = mark_static = mark_dynamic


def mark_static_address(t, guard=True):
    """Addresses are not part of a graph."""


def graph_break(msg=""):
    """A graph ends only where it has to."""


globals().update(sentences("torch._dynamo", ("explain", "export"), "terra.capture.explain(f, *args) says what was captured"))

__getattr__ = lazily(__name__, ("_trace_wrapped_higher_order_op", "config", "eval_frame"))
