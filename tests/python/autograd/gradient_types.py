# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
# run: --torch --capture=verify
"""Gradients of another dtype or size than the result that they are for, from all who give gradients to a pass: its caller,
custom functions, hooks of tensors and of nodes. Functions are called often enough to be captured."""

import functools
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

items = []
CALLS = 7
DTYPES = (torch.float32, torch.float64, torch.float16, torch.complex64)


class Giving(torch.autograd.Function):
    """The identity; its gradient is what `change` makes of it."""

    @staticmethod
    def forward(ctx, x, change):
        ctx.change = change
        return x * 1

    @staticmethod
    def backward(ctx, g):
        return ctx.change(g), None


class Hook:
    def __call__(self, g):
        return g.double()


def narrow(g):
    return g[:1]


def by_caller(h, dtype):
    h.backward(torch.full((3,), 0.5, dtype=dtype))


def by_grad(h, dtype):
    return torch.autograd.grad(h, w, torch.full((3,), 0.5, dtype=dtype), retain_graph=True)


def by_function(h, dtype):
    Giving.apply(h, lambda g: g.to(dtype)).sum().backward()


def by_hook(h, hook):
    h.register_hook(hook)
    h.sum().backward()


def by_prehook(h, dtype):
    h.grad_fn.register_prehook(lambda gs: tuple(g.to(dtype) for g in gs))
    h.sum().backward()


def add(name, do, what):
    def layer(x):
        return torch.tanh(x @ w)

    outcomes = []
    for call in range(CALLS):
        w.grad = None
        try:
            given = do(layer(x), what)
            outcomes.append((given, w.grad, w.grad is not None and str(w.grad.dtype)))
        except RuntimeError as error:
            outcomes.append(str(error))
    items.append((name, outcomes))


x = torch.arange(6.0) / 6
w = (torch.arange(18.0).reshape(6, 3) / 20).requires_grad_()
for dtype in DTYPES:
    for do in (by_caller, by_grad):
        add(f"{do.__name__} {dtype}", do, dtype)
    if not dtype.is_complex:
        for do in (by_function, by_prehook):
            add(f"{do.__name__} {dtype}", do, dtype)
for name, hook in (("function", narrow), ("lambda", lambda g: g.half()), ("object", Hook()),
                   ("partial", functools.partial(narrow)), ("same", lambda g: g * 2)):
    add(f"by_hook {name}", by_hook, hook)

check(items, __file__)
print(f"{len(items)} passed")
