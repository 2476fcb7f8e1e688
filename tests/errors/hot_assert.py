# run: --torch
"""An assert statement in a captured function."""

import torch


def f(x, limit):
    y = x.exp()
    assert y.max() < limit, f"too large: {y.max().item():.1f} against {limit}"
    return y


for i in range(20):
    f(torch.zeros(3), 10)
f(torch.full((3,), 3.0), 10)
