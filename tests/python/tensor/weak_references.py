# run: --torch --capture=off
# run: --torch --capture=stress
"""Tensors that only the tape holds, found again by weak references and by the collector before the tape goes."""
import gc
import pathlib
import sys
import weakref

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402


class Named(torch.Tensor):
    pass


KINDS = {
    "tensor": lambda: torch.ones(3, requires_grad=True),
    "parameter": lambda: torch.nn.Parameter(torch.ones(3)),
    "subclass": lambda: torch.ones(3).as_subclass(Named).requires_grad_(),
}


def held_by_tape(make):
    """What holds the tensor, and a weak reference to it."""
    leaf = make()
    leaf.register_hook(lambda grad: grad)
    leaf.label = "kept"
    return leaf * 2, weakref.ref(leaf)


def described(tensor):
    return type(tensor).__name__, tensor.label, tensor.detach().tolist(), tensor.requires_grad


items = []
for kind, make in KINDS.items():
    # The tape goes first: the tensor is the program's alone, and goes with its last name.
    result, ref = held_by_tape(make)
    found = ref()
    del result
    gc.collect()
    items.append((f"{kind} after its tape", described(found)))
    (found * 3).sum().backward()
    items.append((f"{kind} again", found.grad.tolist()))
    del found
    gc.collect()
    items.append((f"{kind} gone", ref() is None))

    # Twice in turn: the tape, the program, another tape.
    result, ref = held_by_tape(make)
    found = ref()
    del result
    result = found * 5
    del found
    found = ref()
    del result
    items.append((f"{kind} after two tapes", described(found)))
    del found

    # A name that an attribute of the tensor keeps alive.
    result, ref = held_by_tape(make)
    ref().result = result
    del result
    gc.collect()
    found = ref()
    del found.result
    gc.collect()
    items.append((f"{kind} after its attribute", described(found)))
    del found

    result, ref = held_by_tape(make)
    found = [o for o in gc.get_objects() if isinstance(o, torch.Tensor) and getattr(o, "label", "") == "kept"]
    del result
    items.append((f"{kind} by the collector", [described(tensor) for tensor in found]))
    found.clear()

check(items, __file__)

# What is left at the end goes while the interpreter ends: sanitizers see whether it goes in order.
held, only = held_by_tape(KINDS["parameter"])
