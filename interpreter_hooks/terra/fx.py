"""torch.fx: programs as graphs of Python objects are not there. terra.capture.graphs(f) prints what a function runs as."""

from ._missing_parts import sentence, sentences
from ._names import lazily

_WHY = "Terra has no graphs of Python objects; print(*terra.capture.graphs(f)) shows what a function runs as"
globals().update(sentences("torch.fx", ("replace_pattern", "symbolic_trace"), _WHY))


def wrap(fn_or_name):
    """A mark for symbolic_trace, which is not there."""
    return fn_or_name


def _absent(name):
    return type(name, (), {"__doc__": "There are none: making one raises.", "__init__": sentence(f"torch.fx.{name}", _WHY)})


Graph, GraphModule, Interpreter, Node, Proxy, Tracer, Transformer = map(
    _absent, ("Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer")
)

__getattr__ = lazily(__name__)
