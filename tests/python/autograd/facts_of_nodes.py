# run: --torch
# run: --torch --capture=stress
# run: --torch --capture=off
"""What is read of a tensor's node, by functions that get tensors of one kind with nodes of several."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402


def number(x):
    return x.output_nr, (x * 2).output_nr, x.unbind(0)[1].output_nr


def retains(x):
    y = x * 2
    y.retain_grad()
    return x.retains_grad, y.retains_grad, (x * 3).retains_grad


made = wave(3, 3) * torch.ones(3, requires_grad=True)
items = []
for i in range(24):
    rows = made.unbind(0) if i % 2 else torch.max(made.view(1, 3, 3), 0)[:1] * 3
    items.append((f"number {i}", number(rows[i % 3] if i % 2 else rows[0][0])))
    items.append((f"part {i}", number(torch.split(made, 1)[i // 3 % 3].view(3) if i % 4 else made.chunk(3, 1)[i // 4 % 3])))
    kept = made * i
    if i % 5 > 2:
        kept.retain_grad()
    items.append((f"retains {i}", retains(kept)))
check(items, __file__)
