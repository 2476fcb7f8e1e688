# run: --torch
# run: --torch --capture=stress
# run: --torch --capture=off
"""A pass goes no further than to what is asked of it, also where results of one function lead to other leaves than the one
that is passed: hooks behind it are not called."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b.sin()

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b.sin(), g * a * b.cos()


def two(a, b):
    first = a.exp()
    first.chunk(2, 1)[0].repeat(1, 2)
    return [first, torch.where(b > 0, b, a)]


def step(tensors, note, hook):
    x, v = tensors
    other = two(x, v)[-1]
    second = two(v, v)
    first = second[0]
    second = second[-1]
    made = Scaled.apply(first, v)
    if first.requires_grad:
        first.register_hook(hook(1))
    found = torch.autograd.grad((made * 0.3).exp().mean(), [made, x], allow_unused=True, create_graph=True)
    note("asked", found[0])
    last = two(second, first)[0]
    for result in [made, last]:
        if result.requires_grad:
            ((result * 0.3).exp().mean()).backward(retain_graph=True)
    return [other, first, second, made, last]


items = []
for i in range(16):
    tensors, seen = [(wave(4, 4) * (i + 1) * 0.2).requires_grad_(), (wave(4, 4) - 0.1 * i).requires_grad_()], []

    def note(name, g):
        seen.append((name, g.detach().clone()))

    step(tensors, note, lambda m: lambda g: note("hook", g))
    items.append((i, [*seen, tensors[1].grad]))
check(items, __file__)
