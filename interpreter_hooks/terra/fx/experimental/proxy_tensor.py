"""torch.fx.experimental.proxy_tensor: the graph of the ops that one run of a function is made of, those of its gradients too."""

import functools
import inspect
import operator

import _terra_C as C

from ..._names import lazily
from ...nn import Module
from ...ops import aten
from ...utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack
from ...utils._pytree import tree_map
from ..graph import Graph
from ..graph_module import GraphModule

__all__ = ["get_proxy_mode", "make_fx"]


class ProxyTorchDispatchMode(TorchDispatchMode):
    """Writes the ops that it sees into a graph. `decompositions`: {op: function that stands for it}"""

    def __init__(self, graph, decompositions=None):
        super().__init__()
        self.graph, self.members, self._decompositions = graph, {}, decompositions or {}
        self.parts = []  # nodes of the parts of arguments
        self._known = {}  # id -> (tensor, its node); ids are of tensors that are held

    def meet(self, tensor, node):
        """From now on the node stands for the tensor."""
        self._known[id(tensor)] = tensor, node

    def node_of(self, value):
        """The node of a tensor; one that nobody made here is a member of the module. Other values are themselves."""
        if not isinstance(value, C.Tensor):
            return value
        if id(value) not in self._known:
            if C._pass_number() != -1 and not isinstance(value, C.Parameter):
                raise NotImplementedError(
                    "make_fx: a gradient goes through what the engine recorded, in place through a view or before the mode was on; such "
                    "gradients are not in Terra's graphs yet."
                )
            kind = "param" if isinstance(value, C.Parameter) else "tensor"
            name = f"_{kind}_constant{sum(key.startswith(f'_{kind}') for key in self.members)}"
            self.members[name] = value
            self.meet(value, self.graph.get_attr(name))
        return self._known[id(value)][1]

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in self._decompositions:
            with self:
                result = self._decompositions[func](*args, **kwargs)
            if result is not NotImplemented:
                return result
        if func is aten._local_scalar_dense.default and id(args[0]) in self._known:
            raise RuntimeError(
                "It appears that you're trying to get value out of a tracing tensor with aten._local_scalar_dense.default - erroring "
                "out! It's likely that this is caused by data-dependent control flow or similar."
            )
        written = aten.lift_fresh_copy.default if func is aten.lift_fresh.default else func
        given = tree_map(self.node_of, (tuple(args), dict(kwargs)))
        result = func(*args, **kwargs)
        node = self.graph.call_function(written, *given, name=written.overloadpacket.__name__)
        self._meet_results(result, node)
        return result

    def _meet_results(self, result, node):
        if isinstance(result, C.Tensor):
            self.meet(result, node)
        elif isinstance(result, (list, tuple)):
            for i, part in enumerate(result):
                self._meet_results(part, self.graph.call_function(operator.getitem, (node, i)))

    def meet_argument(self, value, node):
        """The tensors in an argument are its parts."""
        if isinstance(value, C.Tensor):
            self.meet(value, node)
        elif isinstance(value, (list, tuple, dict)):
            for key, part in value.items() if isinstance(value, dict) else enumerate(value):
                self.parts.append(self.graph.call_function(operator.getitem, (node, key)))
                self.meet_argument(part, self.parts[-1])


def _names(function, count):
    if isinstance(function, Module):
        return [f"arg{i}" for i in range(count)]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][:count]
    return names + [f"arg{i}" for i in range(len(names), count)]


def make_fx(
    f, decomposition_table=None, tracing_mode="real", _allow_non_fake_inputs=False, *, pre_dispatch=False, record_module_stack=False,
    _allow_fake_constant=False, **unused,
):  # fmt: skip
    """A function that runs f with its arguments and gives a GraphModule of the ops that it saw. They run for real in all of the
    tracing modes, so that shapes are those of the arguments."""
    if tracing_mode not in ("real", "fake", "symbolic"):
        raise AssertionError(f"tracing_mode must be one of 'real', 'fake' or 'symbolic', got {tracing_mode}")

    @functools.wraps(f)
    def traced(*args):
        graph = Graph()
        mode = ProxyTorchDispatchMode(graph, decomposition_table)
        for name, value in zip(_names(f, len(args)), args):
            mode.meet_argument(value, graph.placeholder(f"{name}_1"))
        with mode:
            result = f(*args)
        graph.output(tree_map(mode.node_of, result))
        for node in reversed(mode.parts):
            if not node.users:
                graph.erase_node(node)
        return GraphModule(mode.members, graph, getattr(f, "__name__", type(f).__name__))

    return traced


def get_proxy_mode():
    """The mode that writes a graph, if one is on."""
    found = [mode for mode in _get_current_dispatch_mode_stack() if isinstance(mode, ProxyTorchDispatchMode)]
    return found[-1] if found else None


__getattr__ = lazily(__name__)
