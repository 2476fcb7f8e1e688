# run: --torch
"""A captured function that raises at some call."""

import torch

seen = []


def f(x):
    y = (x * 2).sum()
    seen.append(len(seen))
    if y < 0:
        raise ValueError(f"negative sum {y.item()} at call {len(seen)}")
    return y


for i in range(20):
    f(torch.full((3,), float(i)))
f(torch.full((3,), -1.0))
