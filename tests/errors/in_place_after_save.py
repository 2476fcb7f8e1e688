# run: --torch
"""A value that backward needs, overwritten."""

import torch

x = torch.ones(2, requires_grad=True)
y = x.exp()
y.add_(1)
y.sum().backward()
