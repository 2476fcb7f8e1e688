"""Looking at the tape and taking part in it."""

import contextlib
import typing

import _terra_C as C

from .._names import lazily

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip

Node = C.Node


class GradientEdge(typing.NamedTuple):
    """Where a gradient goes: a node, and which of its results it belongs to."""

    node: Node
    output_nr: int
    ownership_token: Node | None = None


def get_gradient_edge(tensor):
    """Of a tensor that requires grad: its node, for a leaf the one that accumulates."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = tensor.grad_fn
    if node is None:
        with C.enable_grad():
            node = tensor.view_as(tensor).grad_fn.next_functions[0][0]
    return GradientEdge(node, tensor.output_nr if hasattr(tensor, "output_nr") else 0)


_disabled = []  # of nested disable_saved_tensors_hooks: what each says to those who use hooks


class saved_tensors_hooks:
    """In this block what is kept for backward is pack_hook(tensor), and unpack_hook of that gives the tensor back. Of
    several blocks the innermost one counts."""

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self):
        if _disabled:
            raise RuntimeError(_disabled[-1])
        C._push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *exception):
        C._pop_saved_tensors_hooks()


class save_on_cpu(saved_tensors_hooks):
    """What is kept for backward lies on the CPU until it is used, and then goes where it was."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        def pack_to_cpu(tensor):
            return tensor.device, tensor.cpu()

        def unpack_from_cpu(packed):
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)

        super().__init__(pack_to_cpu, unpack_from_cpu)


class _AllowMutationOnSavedContext:
    """What allow_mutation_on_saved_tensors gives: clear() is for those who keep it."""

    def clear(self):
        pass


@contextlib.contextmanager
def allow_mutation_on_saved_tensors():
    """In this block, where backward has to be called too, a copy of each tensor is kept for it, so that the tensor itself
    may be written to."""
    inside = True

    def unpack(tensor):
        assert inside, (
            "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
            "in which the graph was originally recorded."
        )
        return tensor

    try:
        with saved_tensors_hooks(lambda tensor: tensor.clone(), unpack):
            yield _AllowMutationOnSavedContext()
    finally:
        inside = False


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """In this block saved_tensors_hooks raises a RuntimeError that says error_message."""
    if C._saved_tensors_hooks() is not None:
        raise RuntimeError(error_message)
    _disabled.append(error_message)
    try:
        yield
    finally:
        _disabled.pop()


def increment_version(tensor):
    """Counts a write to a tensor, or to each of several: backward refuses what was kept of them before."""
    for each in (tensor,) if isinstance(tensor, C.Tensor) else tensor:
        C._increment_version(each)


class _MultiHandle:
    """Takes the hooks off again that one call put on many tensors."""

    def __init__(self, handles):
        self.handles = handles

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def __getstate__(self):
        return self.handles

    def __setstate__(self, state):
        self.handles = state

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """fn(gradients) once per backward when all are there that it comes to, None for the others; with mode="any"
    fn(gradient) at the first one."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = tuple(tensors)
    for tensor in tensors:
        if not tensor.requires_grad:
            raise AssertionError("Expected gradient function to be set")
    passes = {}  # those under way: how many gradients are to come, and those that have
    last = [None]

    def at(index):
        def arrived(gradient):
            number = C._pass_number()
            if mode == "any":
                if last[0] != number:
                    last[0] = number
                    fn(gradient)
                return
            if number not in passes:
                passes[number] = [sum([C._pass_reaches(t) for t in tensors]), [None] * len(tensors)]
            state = passes[number]
            state[0] -= 1
            state[1][index] = gradient
            if state[0] == 0:
                del passes[number]
                fn(state[1])

        return arrived

    return _MultiHandle(tuple([tensor.register_hook(at(i)) for i, tensor in enumerate(tensors)]))


__getattr__ = lazily(__name__)
