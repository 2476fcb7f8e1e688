# run: --torch
"""A negative learning rate."""

import torch

torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=-1)
