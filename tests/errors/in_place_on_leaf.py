# run: --torch
"""Writing into a parameter while gradients are recorded."""

import torch

x = torch.ones(2, requires_grad=True)
x.add_(1)
