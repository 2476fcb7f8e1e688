"""torch.fx: a program as a graph of Python objects that can be looked at, changed and run again.

`symbolic_trace` calls a function with proxies, which note what is done to them. That is a tool for programs which take
networks apart; what Terra itself runs are graphs of its own (`print(*terra.capture.graphs(f))`)."""

from . import immutable_collections
from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from .graph import CodeGen, Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy
from .subgraph_rewriter import replace_pattern
from .._names import lazily

__all__ = [
    "CodeGen", "Graph", "GraphModule", "Interpreter", "Node", "PH", "Proxy", "ProxyableClassMeta", "Tracer",
    "Transformer", "has_side_effect", "immutable_collections", "map_arg", "replace_pattern", "symbolic_trace", "wrap",
]  # fmt: skip

__getattr__ = lazily(__name__, ("experimental", "passes"))
