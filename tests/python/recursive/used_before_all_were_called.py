# run: --torch
# run: --torch --capture=stress
# run: --torch --capture=off
"""What recursive calls make is used before the last of them, of other leaves, is called. A gradient that is asked of what
uses it comes with its hook: the pass ends there."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402
from _weighted_sums import Node, encode, weight  # noqa: E402


def leaves(i):
    return [(wave(3) + 0.1 * k * i).requires_grad_() for k in range(3)]


items = []
for i in range(12):
    first, second = leaves(i), leaves(i + 1)
    one = encode(Node(first[0], Node(first[1]), Node(first[2])))
    twice = one * 2
    if i % 3 != 2:
        twice.register_hook(lambda g: g * 2)
    other = encode(Node(second[0], Node(second[1]), Node(second[2])))
    loss = (twice * 3).sum() + other.sum()
    asked = [twice, second[0]] if i % 2 else [twice]
    found = torch.autograd.grad(loss, asked, retain_graph=True)
    loss.backward()
    items.append((i, [*found, *(p.grad for p in (*first, *second, weight))]))
    weight.grad = None
check(items, __file__)
