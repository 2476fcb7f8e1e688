# run: --torch
# run: --torch --capture=off
"""Modules that a wrapper runs again in the backward pass: their names, state dicts, attributes and gradients."""

import pathlib
import sys

import torch
import torch.nn as nn
from torch.distributed.algorithms._checkpoint import checkpoint_wrapper as cw
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    CheckpointImpl,
    apply_activation_checkpointing,
    checkpoint_wrapper,
    offload_wrapper,
)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

runs = []


class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.line = nn.Linear(3, 3)
        self.kind = "part"
        with torch.no_grad():
            self.line.weight.copy_(wave(3, 3))
            self.line.bias.zero_()

    def forward(self, x, scale=1):
        runs.append(self.kind)
        return torch.tanh(self.line(x)) * scale


x = wave(2, 3).float()
items = []
WRAPPED = {
    "again": checkpoint_wrapper(Part()),
    "reentrant": checkpoint_wrapper(Part(), checkpoint_impl=CheckpointImpl.REENTRANT),
    "own": checkpoint_wrapper(Part(), checkpoint_fn=lambda module, *args, **kwargs: module(*args, **kwargs)),
    "on the host": offload_wrapper(Part()),
}
for name, module in WRAPPED.items():
    runs.clear()
    leaf = x.clone().requires_grad_()
    result = module(leaf, scale=2)
    before = len(runs)
    result.square().sum().backward()
    items.append((name, [result, before, len(runs), leaf.grad, module._checkpoint_wrapped_module.line.weight.grad]))
    items.append((name + ", names", [list(module.state_dict()), [n for n, _ in module.named_parameters()], module.kind, type(module).__name__]))
    items.append((name + ", loaded", module.load_state_dict(Part().state_dict())))

model = nn.Sequential(Part(), nn.Sequential(Part(), nn.ReLU()))
apply_activation_checkpointing(model, check_fn=lambda module: isinstance(module, (Part, nn.ReLU)))
items.append(("by a check", model))
runs.clear()
model(x).sum().backward()
items.append(("runs", [len(runs), model[0].line.weight.grad, model[1][0][0] if isinstance(model[1][0], nn.Sequential) else model[1][0].kind]))
model = nn.Sequential(nn.Sequential(Part()))
apply_activation_checkpointing(model, cw.offload_wrapper, auto_wrap_policy=lambda module, recurse, nonwrapped_numel: recurse or isinstance(module, Part))
items.append(("by a policy", model))
items.append(("inside", checkpoint_wrapper(nn.Sequential(nn.ReLU(), nn.Tanh()))[1]))

check(items, __file__)
