# run: --torch
# run: --torch --capture=stress
# run: --torch --capture=off
"""Functions of two results that use the same weight, where gradients come to both of them, or to one. What isn't finite on
the way to the other one is nobody's: no zeros stand for a gradient that hasn't come."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402


def two(x, y):
    return torch.tanh(x @ weight) * 2, torch.log(y).abs() @ weight


def chain(x, y, rounds):
    total, other = 0, x
    for k in range(rounds):
        x, other = two(x, y * (k % 3))
        if x.sum().item() > 100:
            break
        total = total + x.sum()
    return total, other


weight = wave(4, 4).requires_grad_()
items = []
for i in range(24):
    x, y = (wave(2, 4) * (i + 1) * 0.1).requires_grad_(), wave(2, 4).abs().requires_grad_()
    both = i % 4 == 0
    first, second = two(x, y if both else y * 0)
    (first.sum() + second.sum() if both else first.sum()).backward()
    items.append((i, [x.grad, weight.grad] + ([y.grad] if both else [])))
    weight.grad = None
for i in range(12):
    x, y = (wave(2, 4) * (i + 1) * 0.1).requires_grad_(), wave(2, 4).abs().requires_grad_()
    total, other = chain(x, y, 40)
    (total + (other.sum() if i % 3 == 0 else 0)).backward()
    items.append((f"chain {i}", [x.grad, weight.grad]))
    weight.grad = None
check(items, __file__)
