# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
"""The dicts of hooks that programs read, empty and change: they are there from the start."""

import copy
import pathlib
import sys

import torch
import torch.nn as nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

KINDS = (
    "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks", "_state_dict_hooks", "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip
results = []
calls = []
x = torch.ones(1, 2)


def note(module, inputs, output):
    calls.append(type(module).__name__)


def doubled(module, inputs, output):
    return output * 2


def made():
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    nn.init.constant_(model[0].weight, 0.5)
    nn.init.constant_(model[0].bias, 0.25)
    return model


model = made()
results.append(("empty", [len(getattr(m, kind)) for m in model.modules() for kind in KINDS]))
results.append(("the same", [all(getattr(model, kind) is getattr(model, kind) for kind in KINDS), hasattr(model, "_no_hooks")]))

# Whoever holds the dict sees what is registered, and changes what is called.
hooks = model[0]._forward_hooks
handle = model[0].register_forward_hook(doubled)
results.append(("registered", [len(hooks), list(hooks.values()) == [doubled], model(x)]))
hooks.clear()
results.append(("cleared", [len(model[0]._forward_hooks), model(x)]))
handle.remove()

for _ in range(6):
    for module in model.modules():
        module.register_forward_hook(note)
    model(x)
    for module in model.modules():
        for key in list(module._forward_hooks):
            del module._forward_hooks[key]
    model(x)
results.append(("called", calls))

# Entered by hand between calls of a function that was captured without hooks.
model = made()
held = model[0]._forward_hooks


def value():
    return model(x).sum()


values = []
for i in range(12):
    if i == 6:
        held[1234567] = doubled
    if i == 9:
        held.pop(1234567)
    values.append(value().item())
results.append(("by hand", values))


def count_of(module):
    return x.sum() + len(module._forward_hooks) + len(module._backward_hooks)


fresh = nn.Linear(2, 2)
results.append(("read in a function", [count_of(fresh).item() for _ in range(4)]))
fresh.register_forward_hook(note)
results.append(("and once more", [count_of(fresh).item() for _ in range(4)]))
results.append(("copied", [len(copy.deepcopy(fresh)._forward_hooks), len(nn.Linear(1, 1)._forward_hooks)]))


class Unmade(nn.Module):
    def __init__(self):
        results.append(("before Module.__init__()", hasattr(self, "_forward_hooks")))
        super().__init__()
        results.append(("behind it", hasattr(self, "_forward_hooks")))


Unmade()
check(results, __file__)
