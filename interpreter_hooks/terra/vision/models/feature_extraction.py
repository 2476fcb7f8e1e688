"""Outputs of inner layers: the graph of a model, ending at the nodes that are asked for."""

import copy
import math
from collections import OrderedDict

from ... import fx
from ...fx._symbolic_trace import ScopeTracer
from .. import ops

__all__ = ["create_feature_extractor", "get_graph_node_names"]


class NodePathTracer(ScopeTracer):
    """Names nodes by where they are: "layer1.0.conv1", "layer1.0.relu_1" for the second one there, "flatten"."""

    def __init__(self, leaf_modules=(), **options):
        super().__init__(**options)
        self._leaves = tuple(leaf_modules)
        self._counts = {}
        self.node_to_qualname = OrderedDict()

    def is_leaf_module(self, m, module_qualified_name):
        return isinstance(m, self._leaves) or super().is_leaf_module(m, module_qualified_name)

    def create_node(self, kind, target, *args, **kwargs):
        node = super().create_node(kind, target, *args, **kwargs)
        name = self.scope if kind == "call_module" else f"{self.scope}.{node.name}" if self.scope else node.name
        stem, _, number = name.rpartition("_")
        name = stem if stem and number.isdigit() else name
        count = self._counts.get(name, 0)
        self._counts[name] = count + 1
        self.node_to_qualname[node] = f"{name}_{count}" if count else name
        return node


def _options(autowrap_modules=(), leaf_modules=(), **others):
    """Functions and layers of torchvision.ops are not looked into."""
    layers = [value for name in ops.__all__ if isinstance(value := getattr(ops, name), type)]
    return {"autowrap_modules": (math, ops, *autowrap_modules), "leaf_modules": (*layers, *leaf_modules), **others}


def _traced(model, training, tracer_kwargs, concrete_args):
    """(graph module, {name: node}) of the model in one of its modes."""
    before = {module: module.training for module in model.modules()}
    model.train(training)
    try:
        tracer = NodePathTracer(**_options(**(tracer_kwargs or {})))
        graph = tracer.trace(model, concrete_args=concrete_args)
    finally:
        for module, mode in before.items():
            module.training = mode
    names = {name: node for node, name in tracer.node_to_qualname.items() if node.op != "output"}
    return tracer.root, graph, names


def get_graph_node_names(model, tracer_kwargs=None, suppress_diff_warning=False, concrete_args=None):
    """(names of the nodes in training, names in evaluation)"""
    return tuple(
        [*_traced(model, training, tracer_kwargs, concrete_args)[2]] for training in (True, False)
    )


def _found(query, names):
    """The node of that name, or the last one below it: "layer1" is what layer1 gives."""
    below = [node for name, node in names.items() if name == query or name.startswith(query + ".")]
    if not below:
        raise ValueError(
            f"node: '{query}' is not present in model. Hint: use `get_graph_node_names` to make sure the `return_nodes` you "
            "specified are present. It may even be that you need to specify `train_return_nodes` and `eval_return_nodes` "
            "separately."
        )
    return below[-1]


class DualGraphModule(fx.GraphModule):
    """Two graphs over the same members: one for training, one for evaluation."""

    def __init__(self, train_root, train_graph, eval_root, eval_graph, class_name="GraphModule"):
        super().__init__(train_root, train_graph, class_name)
        self._take_members(eval_root, eval_graph)
        self.train_graph, self.eval_graph = train_graph, eval_graph
        self.train(self.training)

    def train(self, mode=True):
        """Both graphs stay; forward is that of the mode."""
        graph = self.train_graph if mode else self.eval_graph
        if self.graph is not graph:
            self.graph = graph
        return super().train(mode)

    def __deepcopy__(self, memo):
        members = fx.GraphModule.__deepcopy__(self, memo)
        graphs = copy.deepcopy(self.train_graph), copy.deepcopy(self.eval_graph)
        return DualGraphModule(members, graphs[0], members, graphs[1], type(self).__name__)


def create_feature_extractor(
    model, return_nodes=None, train_return_nodes=None, eval_return_nodes=None, tracer_kwargs=None,
    suppress_diff_warning=False, concrete_args=None,
):  # fmt: skip
    """A module that gives {new name: output} of the nodes: a list of names, or a dict from names to new names. What they
    don't need is left out."""
    if return_nodes is None and (train_return_nodes is None or eval_return_nodes is None):
        raise ValueError(
            "Either `return_nodes` or `train_return_nodes` and `eval_return_nodes` together, should be specified"
        )
    if (train_return_nodes is None) != (eval_return_nodes is None):
        raise ValueError(
            "If any of `train_return_nodes` and `eval_return_nodes` are specified, then both should be specified"
        )
    if return_nodes is not None and train_return_nodes is not None:
        raise ValueError("If `train_return_nodes` and `eval_return_nodes` are specified, then both should be specified")
    parts = []
    for training, nodes in ((True, train_return_nodes), (False, eval_return_nodes)):
        root, graph, names = _traced(model, training, tracer_kwargs, concrete_args)
        wanted = _as_names(return_nodes if nodes is None else nodes)
        outputs = {new: _found(query, names) for query, new in wanted.items()}
        graph.erase_node(graph.output_node())
        graph.output(outputs)
        graph.owning_module = root
        graph.eliminate_dead_code()
        parts += [root, graph]
    return DualGraphModule(*parts, class_name=type(model).__name__)


def _as_names(nodes):
    if isinstance(nodes, dict):
        return {str(node): str(new) for node, new in nodes.items()}
    return {str(node): str(node) for node in nodes}
