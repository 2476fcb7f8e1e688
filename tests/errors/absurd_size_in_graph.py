# run: --torch
"""Too much memory inside a captured function, which had been fine before."""

import torch


def f(x, n):
    return x.sum() + torch.zeros(n).sum()


for _ in range(20):
    f(torch.ones(3), 4)
try:
    f(torch.ones(3), 1 << 45)
except RuntimeError as error:
    raise RuntimeError(str(error).partition(" (")[0]) from None
