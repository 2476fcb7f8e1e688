# run: --torch
# run: --torch --capture=stress
# run: --torch --capture=off
"""Leaves that are given other memory, and others that no longer require gradients, behind recursive calls: the gradients of
what was called are computed with the leaf as it is by then."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402
from _weighted_sums import Node, encode, weight  # noqa: E402

items = []
for i in range(16):
    leaves = [(wave(3) + 0.1 * k * i).requires_grad_() for k in range(5)]
    one = encode(Node(leaves[0], Node(leaves[1]), Node(leaves[2])))
    weight.data = torch.full((3,), 2.0).double()
    other = encode(Node(leaves[3], Node(leaves[4])))
    if i % 4 in (1, 3):
        weight.requires_grad_(False)
    if i % 4 in (2, 3):
        weight.data = torch.full((3,), -0.5).double()
    if i % 8 > 5:
        other.register_hook(lambda g: g * 2)
    ((one * 3).sum() + other.sum()).backward()
    items.append((i, [one, other, *(leaf.grad for leaf in leaves)]))
    items.append((f"weight {i}", "None" if weight.grad is None else weight.grad))
    weight.grad = None
    weight.requires_grad_()
    weight.data = wave(3)
check(items, __file__)
