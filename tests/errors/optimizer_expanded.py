# run: --torch
"""An optimizer on a parameter whose elements are one number in memory."""

import torch

weight = torch.nn.Parameter(torch.ones(1).expand(3))
weight.grad = torch.ones(3)
torch.optim.SGD([weight], lr=0.1, momentum=0.9).step()
