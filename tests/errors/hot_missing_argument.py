# run: --torch
"""A captured function called with too few arguments."""

import torch


def f(x, y):
    return x + y


for _ in range(20):
    f(torch.ones(2), torch.ones(2))
f(torch.ones(2))
