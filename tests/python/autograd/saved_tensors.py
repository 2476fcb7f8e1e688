# run: --torch
# run: --torch --capture=stress
"""Hooks of what is kept for backward: what they see, what they give back, what they may not do; as PyTorch has them."""

import copy
import pathlib
import sys

import torch
from torch.autograd import graph

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

seen = []


def leaves():
    return torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)


def pack(tensor):
    seen.append(("pack", tuple(tensor.shape), torch.is_grad_enabled()))
    return tensor.detach().tolist()


def unpack(numbers):
    seen.append(("unpack", len(numbers), torch.is_grad_enabled()))
    return torch.tensor(numbers)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x**3
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * 3 * y / x


def through(function, *, pack=pack, unpack=unpack, block=None):
    """The gradient of a function whose saved tensors were packed, and what the hooks saw."""
    seen.clear()
    a, b = leaves()
    with block or graph.saved_tensors_hooks(pack, unpack):
        y = function(a, b)
    y.sum().backward()
    return a.grad, b.grad, list(seen)


def product(a, b):
    return a * b


def written(block):
    a, b = leaves()
    with block:
        y = a * b
    with torch.no_grad():
        a.mul_(2)
    y.sum().backward()
    return b.grad


def twice():
    a, _ = leaves()
    with graph.saved_tensors_hooks(pack, unpack):
        y = (a**3).sum()
    (g,) = torch.autograd.grad(y, a, create_graph=True)
    return torch.autograd.grad(g.sum(), a)


def kept_parameters():
    """The hook of a leaf that is saved gets the leaf itself."""
    weight, got = torch.nn.Parameter(torch.ones(2)), []
    with graph.saved_tensors_hooks(lambda t: got.append(t) or t, lambda t: t):
        (torch.ones(2, requires_grad=True) * weight).exp().sum().backward()
    return any(t is weight for t in got)


def mutated():
    a, b = leaves()
    with graph.allow_mutation_on_saved_tensors():
        c = a.clone()
        y = (c * b).sum()
        c.zero_()
        y.backward()
    return a.grad, b.grad


def nested():
    a, order = leaves()[0], []
    with graph.saved_tensors_hooks(lambda t: order.append("outer") or t, lambda t: t):
        with graph.saved_tensors_hooks(lambda t: order.append("inner") or t, lambda t: t):
            a.exp()
        a.exp()
    a.exp()
    return order


def disabled(inside):
    with graph.disable_saved_tensors_hooks("one"):
        if inside:
            with graph.disable_saved_tensors_hooks("two"):
                pass
        return through(product)


def disabled_within():
    with graph.saved_tensors_hooks(pack, unpack), graph.disable_saved_tensors_hooks("no hooks"):
        pass


def incremented():
    a, b = leaves()
    y = a * b
    graph.increment_version([a, b])
    graph.increment_version(a)
    return a._version, b._version, y.sum().backward()


def trained(block):
    """A frame that is hot with and without hooks."""
    torch.manual_seed(0)
    layer = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))

    def step(x):
        loss = layer(x).pow(2).mean()
        loss.backward()
        with torch.no_grad():
            for p in layer.parameters():
                p.sub_(p.grad, alpha=0.1)
                p.grad = None
        return loss.item()

    x, losses = torch.arange(6.0).reshape(2, 3), []
    for i in range(12):
        if i % 4 < 2:
            losses.append(step(x))
            continue
        with block():
            losses.append(step(x))
    return losses


def of_copy(make):
    p = make(torch.ones(2))
    p.requires_grad_()
    p.grad = torch.ones(2)
    return copy.deepcopy(p).grad


def named(function):
    x = torch.ones(2, 2, dtype=torch.bfloat16, requires_grad=True)
    return function(x).grad_fn.name()


F = torch.nn.functional
CALLS = {
    "product": lambda: through(product), "exp": lambda: through(lambda a, b: (a * b).exp()),
    "function": lambda: through(lambda a, b: Cube.apply(a)), "no grad": lambda: through(lambda a, b: a + b),
    "twice": twice, "parameters": kept_parameters, "nested": nested,
    "not a tensor": lambda: through(product, unpack=lambda numbers: 7),
    "writes": lambda: through(product, pack=lambda tensor: tensor.mul_(2)),
    "pack raises": lambda: through(product, pack=lambda tensor: 1 / 0),
    "unpack raises": lambda: through(product, unpack=lambda tensor: 1 / 0),
    "hook of no use": lambda: type(graph.saved_tensors_hooks(3, unpack)).__name__,
    "on cpu": lambda: through(product, block=graph.save_on_cpu()),
    "pinned": lambda: through(product, block=graph.save_on_cpu(pin_memory=True)),
    "written on cpu": lambda: written(graph.save_on_cpu()), "written": lambda: written(graph.saved_tensors_hooks(pack, unpack)),
    "mutation": lambda: written(graph.allow_mutation_on_saved_tensors()), "mutation inside": mutated, "disabled": lambda: disabled(False),
    "disabled twice": lambda: disabled(True), "disabled within": disabled_within, "incremented": incremented,
    "trained": lambda: trained(lambda: graph.saved_tensors_hooks(pack, unpack)), "trained on cpu": lambda: trained(graph.save_on_cpu),
    "copy of a parameter": lambda: of_copy(torch.nn.Parameter), "copy of a leaf": lambda: of_copy(torch.Tensor.clone),
    "sum": lambda: named(torch.sum), "mean": lambda: named(torch.mean), "matmul": lambda: named(lambda x: x @ x),
    "add": lambda: named(lambda x: x + 1), "linear": lambda: named(lambda x: F.linear(x, x)), "max": lambda: named(lambda x: x.amax(0)),
    "softmax": lambda: named(lambda x: x.softmax(0)), "layer_norm": lambda: named(lambda x: F.layer_norm(x, (2,))),
    "to": lambda: named(lambda x: x.float()), "clamp": lambda: named(lambda x: x.clamp(0, 1)), "view": lambda: named(lambda x: x.view(4)),
}  # fmt: skip


def said(function):
    try:
        return function()
    except Exception as error:  # noqa: BLE001
        text = str(error)
        return f"{type(error).__name__} {'' if 'argument' in text or 'modified by' in text else text}"


check([(name, said(function)) for name, function in CALLS.items()], __file__)
