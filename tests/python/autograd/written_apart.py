# run: --torch
# run: --torch --capture=stress
# run: --torch --capture=off
# run: --torch TERRA_EXACT=1
"""Weights that are written between a call and its gradient, counted or through .data: the gradient is of what the call
computed, also the first time, when nobody knows yet of which results gradients will be asked. A leaf that has other memory
since is read as it is by what has saved it, also where the gradient has a gradient."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

w, v, table = (wave(*size).float().requires_grad_() for size in ((3, 3), (6, 3), (6, 3)))


def joined(i):
    leaf = table[i % 3]
    return torch.cat([leaf @ w + leaf, leaf]) @ v


def row(i):
    return (table[:2] + w[0]).sin()[i % 2]


def one_of_two(i):
    y = (table + w[1]).tanh()
    return (y, y.t() * 2)[i % 2]


def nested(i, depth=3):
    return table[i % 3] if depth == 0 else torch.cat([(nested(i, depth - 1) * w[0]).tanh(), table[0]]) @ v


def computes_nothing(i):
    return (w * 1) @ v[:3] + (w / 1).sin()


def added_once(i):
    return (table[:3] + w).tanh()


def two_results(i):
    return table[:3].exp() + w, (table @ w).exp()


def chosen(i):
    return (table[:3] * torch.where(w > 0, w, v[:3])).sin() * (w @ v[:3])


def counted():
    with torch.no_grad():
        w.mul_(0.9)


def apart():
    w.data.mul_(0.9)


def moved():
    w.data = w.data * 0.9


def moved_and_turned():
    w.data = w.data.t() * 0.9


def once(y):
    y.pow(2).sum().backward()


def twice(y):
    given = torch.autograd.grad(y.pow(2).sum(), (w, v, table), create_graph=True, allow_unused=True)
    sum(g.pow(2).sum() for g in given if g is not None).backward()


def kept(y):
    y.retain_grad()
    once(y)


def hooked(y):
    y.register_hook(lambda g: g * 2)
    twice(y)


def ends_there(y):
    y.register_hook(lambda g: g * 2)
    (g,) = torch.autograd.grad(y.pow(2).sum(), (y,), create_graph=True)
    g.pow(2).sum().backward()


def gradients(f, write, ask):
    found = []
    for i in range(18):
        y = f(i)
        write()
        try:
            ask(y[i % 2] if isinstance(y, tuple) else y)
            found.append([p.grad.sum() for p in (w, v, table) if p.grad is not None])
        except RuntimeError as error:
            found.append(str(error).partition(":")[0])
        w.grad = v.grad = table.grad = None
        w.data = wave(3, 3).float()
    return found


def in_one_frame(i):
    y = torch.maximum(torch.sigmoid(w) + table[:3], w)
    w.data = w.data * 0.5
    (y * 0.3).exp().mean().backward()
    found = [w.grad.sum(), table.grad.sum()]
    w.grad = table.grad = None
    w.data = wave(3, 3).float()
    return found


FUNCTIONS = (joined, row, one_of_two, nested, computes_nothing, added_once, two_results, chosen)


def is_promised(f, write, ask):
    """A region keeps no copy of what it has read: once that is written, gradients of gradients may be refused, and where
    the write counts no version, what the backward half computes again from it is of what was written."""
    if write is apart and f in (two_results, chosen):
        return False
    return write in (moved, moved_and_turned) or ask in (once, kept, ends_there)


items = [
    (f"{f.__name__} {write.__name__} {ask.__name__}", gradients(f, write, ask))
    for f in FUNCTIONS for write in (counted, apart, moved, moved_and_turned) for ask in (once, twice, kept, hooked, ends_there)
    if is_promised(f, write, ask)
]  # fmt: skip
items.append(("in one frame", [in_one_frame(i) for i in range(12)]))
check(items, __file__)
