"""The graph of a model, as TensorBoard draws it: nodes below the modules that they belong to."""

from ... import fx
from ...fx._symbolic_trace import ScopeTracer
from . import protobuf


class _NodeScopes(ScopeTracer):
    """Notes the path of the module that each node was made in."""

    def __init__(self):
        super().__init__()
        self.scopes = {}

    def create_node(self, kind, target, *args, **kwargs):
        node = super().create_node(kind, target, *args, **kwargs)
        self.scopes[node] = self.scope
        return node


def _kind(node, model):
    if node.op == "call_module":
        return type(model.get_submodule(node.target)).__name__
    return {"placeholder": "Input", "get_attr": "Parameter", "output": "Output"}.get(node.op) or node.target_text()


def graph(model):
    """The bytes of a GraphDef."""
    tracer = _NodeScopes()
    try:
        traced = tracer.trace(model)
    except (fx.proxy.TraceError, RuntimeError, TypeError, NotImplementedError) as error:
        raise NotImplementedError(
            f"SummaryWriter.add_graph: {type(model).__name__} can't be drawn, because its flow of control depends on tensors "
            f"({error}); print(*terra.capture.graphs(model)) shows what it runs as."
        ) from error
    top, names, nodes = type(model).__name__, {}, b""
    for node in traced.nodes:
        names[node] = "/".join([top, *filter(None, tracer.scopes[node].split(".")), node.name])
        message = protobuf.text(1, names[node]) + protobuf.text(2, _kind(node, tracer.root))
        for source in node.all_input_nodes:
            message += protobuf.text(3, names[source])
        nodes += protobuf.text(1, message)
    return nodes + protobuf.text(4, protobuf.integer(1, 22))
