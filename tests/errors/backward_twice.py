# run: --torch
"""backward() through the same values again."""

import torch

x = torch.ones(2, requires_grad=True)
y = x.exp().sum()
y.backward()
y.backward()
