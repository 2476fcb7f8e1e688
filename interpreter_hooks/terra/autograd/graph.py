"""Looking at the tape and taking part in it."""

import contextlib
import typing

import _terra_C as C

from .._missing_parts import sentences
from .._names import lazily

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip

Node = type((C.zeros(1, requires_grad=True) * 1).grad_fn)


class GradientEdge(typing.NamedTuple):
    """Where a gradient goes: a node, and which of its results it belongs to."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor):
    """Of a tensor that requires grad: its node, for a leaf the one that accumulates."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = tensor.grad_fn
    if node is None:
        with C.enable_grad():
            node = tensor.view_as(tensor).grad_fn.next_functions[0][0]
    return GradientEdge(node, tensor.output_nr if hasattr(tensor, "output_nr") else 0)


class save_on_cpu(contextlib.nullcontext):
    """Where saved tensors would go to the CPU, they are there already."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__()


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """There are none to disable."""
    yield


class _Handles:
    def __init__(self, handles):
        self._handles = handles

    def remove(self):
        for handle in self._handles:
            handle.remove()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """fn(gradients) once per backward when all of them are there, None for those that nothing reached; with mode="any"
    fn(gradient) at the first one."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = tuple(tensors)
    seen = {"gradients": [None] * len(tensors), "count": 0}

    def arrived(index):
        def hook(gradient):
            if mode == "any":
                seen["count"] += 1
                if seen["count"] == 1:
                    fn(gradient)
                if seen["count"] == len(tensors):
                    seen["count"] = 0
                return
            seen["gradients"][index] = gradient
            seen["count"] += 1
            if seen["count"] == len(tensors):
                gradients, seen["gradients"], seen["count"] = seen["gradients"], [None] * len(tensors), 0
                fn(gradients)

        return hook

    return _Handles([tensor.register_hook(arrived(i)) for i, tensor in enumerate(tensors)])


_WHY = "it is not in Terra yet: what the tape keeps can't be replaced; torch.utils.checkpoint keeps less"
globals().update(
    sentences("torch.autograd.graph", ("allow_mutation_on_saved_tensors", "increment_version", "saved_tensors_hooks"), _WHY)
)

__getattr__ = lazily(__name__)
