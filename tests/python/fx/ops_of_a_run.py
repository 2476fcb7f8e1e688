# run: --torch
# run: --torch --capture=off
"""make_fx: the graph of the ops that a run of a function is made of, and of its gradients."""

import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.fx.experimental.proxy_tensor import get_proxy_mode, make_fx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

results = []


def products(x, y):
    return (x @ y).relu().sum() + 1, y.T * 2


def slope(x):
    return torch.autograd.grad((x.sin() * x).sum(), x)[0]


def written(x):
    x.add_(1)
    return F.layer_norm(x, (4,)).softmax(-1).max(1)


def loss(x):
    return F.cross_entropy(x, torch.tensor([0, 1, 2]))


def of_its_mode(x):
    return x[0, 1:] + type(get_proxy_mode()).__name__.count("Proxy")


x, y = wave(3, 4).float(), wave(4, 5).float()
for function, args in ((products, (x, y)), (slope, (x[0].clone().requires_grad_(),)), (written, (x.clone(),)), (loss, (x,)), (of_its_mode, (x,))):
    module = make_fx(function)(*args)
    results.append((function.__name__, module.code))
    results.append(("result", module(*[a.clone() for a in args])))
layer = nn.Linear(4, 2)
with torch.no_grad():
    layer.weight.copy_(wave(2, 4)), layer.bias.zero_()
module = make_fx(layer)(x)
results.append(("layer", [module.code, [name for name, _ in module.named_parameters()], module(x)]))
module = make_fx(lambda d: {"a": d["x"] + x, "b": [d["y"].split(2)[0], torch.zeros(2)]})({"x": x, "y": y})
found = module({"x": x * 2, "y": y + 1})
results.append(("structures", [found["a"], found["b"]]))
module = make_fx(lambda x: F.silu(x), {torch.ops.aten.silu.default: lambda x: x * torch.sigmoid(x)})(x)
results.append(("decomposed", [str(node.target) for node in module.graph.nodes]))
try:
    make_fx(lambda x: x + 1 if x.sum() > 0 else x)(x)
except RuntimeError as error:
    results.append(("branch on a value", str(error).split(" - ")[0]))

check(results, __file__)
