# run: --torch
# run: --torch --capture=stress
# run: --torch --capture=off
"""Print options that functions set and read: each call of them, whether the function is captured or not."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402


def show(x, precision):
    y = x / 3
    torch.set_printoptions(precision=precision)
    return y


def profile(x, name):
    torch.set_printoptions(profile=name)
    return x * 2


items = []
for i in range(24):
    x = torch.ones(2) * (i + 1)
    items.append((f"precision {i}", repr(show(x, 2 + i // 2 % 3))))
    items.append((f"profile {i}", repr(profile(x / 7, ["default", "short"][i // 3 % 2]))))
check(items, __file__)
