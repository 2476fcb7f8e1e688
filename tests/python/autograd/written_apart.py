# run: --torch
# run: --torch --capture=stress
# run: --torch --capture=off
"""Weights that are written between a call and its gradient, counted or through .data: the gradient is of what the call
computed, also the first time, when nobody knows yet of which results gradients will be asked."""

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


def gradients(f, counted):
    found = []
    for i in range(18):
        y = f(i)
        with torch.no_grad():
            (w if counted else w.data).mul_(0.9)
        try:
            y.pow(2).sum().backward()
            found.append([p.grad.sum() for p in (w, v, table) if p.grad is not None])
        except RuntimeError as error:
            found.append(str(error).partition(":")[0])
        w.grad = v.grad = table.grad = None
    w.data.copy_(wave(3, 3))
    return found


items = [(f"{f.__name__} {counted}", gradients(f, counted)) for f in (joined, row, one_of_two, nested) for counted in (True, False)]
check(items, __file__)
