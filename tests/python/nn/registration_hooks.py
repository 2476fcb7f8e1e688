# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
"""Hooks on what modules get as members, __init__ that hands on, and networks as functions of their weights."""

import os
import sys

import torch
from torch import nn
from torch.nn.modules.module import (
    register_module_buffer_registration_hook, register_module_module_registration_hook, register_module_parameter_registration_hook,
)  # fmt: skip

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from _oracle import check, wave  # noqa: E402

items = []
log = []


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("count", torch.zeros(1))
        self.register_parameter("none", None)

    def forward(self, x):
        return self.a(x) * self.scale


def make(n):
    return [sorted(Net()._parameters) for _ in range(n)]


make(12)
before = Net()
handles = [
    register_module_parameter_registration_hook(lambda m, name, p: log.append(("p", type(m).__name__, name))),
    register_module_buffer_registration_hook(lambda m, name, b: log.append(("b", type(m).__name__, name, b is None))),
    register_module_module_registration_hook(lambda m, name, c: log.append(("m", type(m).__name__, name, type(c).__name__))),
]
net = Net()
items.append(("new", list(log)))
log.clear()
net.count = torch.ones(1)
net.count = None
net.a = nn.ReLU()
net.a = None
net.none = nn.Parameter(torch.ones(1))
net.add_module("b", nn.Tanh())
before.scale = nn.Parameter(torch.ones(2))
items.append(("set", list(log)))
for handle in handles:
    handle.remove()
log.clear()
Net()
items.append(("removed", list(log)))


def doubled(module, name, parameter):
    return nn.Parameter(parameter.detach() * 0 + 2) if name == "scale" else None


with register_module_parameter_registration_hook(doubled):
    items.append(("another parameter", Net().scale))
with register_module_buffer_registration_hook(lambda m, name, b: b + 5):
    items.append(("another buffer", Net().count))
with register_module_module_registration_hook(lambda m, name, c: nn.Identity() if isinstance(c, nn.Linear) else None):
    items.append(("another module", Net().a))
items.append(("as before", [Net().scale, type(Net().a).__name__, make(12)[-1]]))


# ---- __init__
class Mixin:
    def __init__(self, *args, **kwargs):
        log.append((args, sorted(kwargs.items())))


class HandsOn(nn.Module, Mixin):
    call_super_init = True


class Stays(nn.Module, Mixin):
    pass


HandsOn(1, two=2)
items.append(("hands on", list(log)))
for arguments in ((1,), ()):
    try:
        Stays(*arguments, **({} if arguments else {"two": 2}))
    except TypeError as error:
        items.append(("stays", str(error)))

# ---- torch.lstm and the like
x = wave(5, 3, 4).float()
for bidirectional, layers, bias in ((False, 1, True), (True, 2, True), (False, 2, False)):
    for name, kind, function in (("lstm", nn.LSTM, torch.lstm), ("gru", nn.GRU, torch.gru), ("rnn", nn.RNN, torch.rnn_tanh)):
        torch.manual_seed(0)
        module = kind(4, 6, layers, bias=bias, bidirectional=bidirectional)
        state = torch.zeros(layers * (1 + bidirectional), 3, 6)
        hx = (state, state) if name == "lstm" else state
        weights = [w for each in module.all_weights for w in each]
        results = function(x, hx, weights, bias, layers, 0.0, False, bidirectional, False)
        items.append((f"{name} {bidirectional} {layers} {bias}", [r.sum(-1) for r in results]))
        first = function(x.transpose(0, 1), hx, weights, bias, layers, 0.0, True, bidirectional, True)
        items.append(("batch first", torch.allclose(first[0].transpose(0, 1), results[0])))
        packed = nn.utils.rnn.pack_padded_sequence(x, [5, 3, 2])
        results = function(packed.data, packed.batch_sizes, hx, weights, bias, layers, 0.0, False, bidirectional)
        items.append(("packed", [r.sum(-1) for r in results]))
projected = nn.LSTM(4, 6, proj_size=2)
weights = projected.all_weights[0]
results = torch.lstm(x, (torch.zeros(1, 3, 2), torch.zeros(1, 3, 6)), weights, True, 1, 0.0, False, False, False)
items.append(("projected", [list(r.shape) for r in results]))
items.append(("same", torch.allclose(results[0], projected(x)[0])))

check(items, __file__)
