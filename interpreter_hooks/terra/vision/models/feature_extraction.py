"""Outputs of inner layers: of those that are modules, by hooks on them."""

from collections import OrderedDict

from ... import nn
from ..._missing_parts import sentence

__all__ = ["create_feature_extractor", "get_graph_node_names"]

get_graph_node_names = sentence(
    "torchvision.models.feature_extraction.get_graph_node_names",
    "Terra traces no graph here; nodes of create_feature_extractor are the names of named_modules()",
)


class _Complete(Exception):
    """All outputs are there: the rest of the model need not run."""


class FeatureExtractor(nn.Module):
    """Runs the model as far as it must and gives {new name: output} of some of its modules.

    "layer_1" is the second call of "layer"."""

    def __init__(self, model, nodes):
        super().__init__()
        self.model = model
        self._nodes = nodes
        self._running = False  # the model may be called without this module too
        self._outputs = {}
        self._calls = {}
        for name in {self._module_of(node) for node in nodes}:
            self.model.get_submodule(name).register_forward_hook(self._keep(name))

    def _module_of(self, node):
        names = dict(self.model.named_modules())
        if node in names:
            return node
        stem, _, number = node.rpartition("_")
        if stem in names and number.isdigit():
            return stem
        raise ValueError(
            f"node: '{node}' is not present in model: nodes are modules here, by their names in named_modules(), "
            "with _1 behind for a second call"
        )

    def _keep(self, name):
        def hook(module, arguments, output):
            if not self._running:
                return
            count = self._calls.get(name, 0)
            self._calls[name] = count + 1
            node = f"{name}_{count}" if count else name
            if node in self._nodes:
                self._outputs[node] = output
                if len(self._outputs) == len(self._nodes):
                    raise _Complete

        return hook

    def forward(self, *args, **kwargs):
        self._outputs.clear()
        self._calls.clear()
        self._running = True
        try:
            self.model(*args, **kwargs)
        except _Complete:
            pass
        finally:
            self._running = False
        result = OrderedDict((new, self._outputs[node]) for node, new in self._nodes.items())
        self._outputs.clear()
        return result


def create_feature_extractor(
    model, return_nodes=None, train_return_nodes=None, eval_return_nodes=None, tracer_kwargs=None,
    suppress_diff_warning=False, concrete_args=None,
):  # fmt: skip
    """A module that gives {new name: output} of the nodes: a list of names, or a dict from names to new names."""
    nodes = return_nodes if return_nodes is not None else eval_return_nodes
    if nodes is None:
        raise ValueError(
            "Either `return_nodes` or `train_return_nodes` and `eval_return_nodes` together, should be specified"
        )
    if not isinstance(nodes, dict):
        nodes = {str(node): str(node) for node in nodes}
    return FeatureExtractor(model, {str(node): str(new) for node, new in nodes.items()})
