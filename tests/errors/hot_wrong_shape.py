# run: --torch
"""The wrong shape in a function that is captured already: the message is that of plain Python."""

import torch


def f(x, w):
    return torch.relu(x @ w).sum()


w = torch.ones(3, 2, requires_grad=True)
for _ in range(20):
    f(torch.ones(4, 3), w).backward()
f(torch.ones(4, 5), w)
