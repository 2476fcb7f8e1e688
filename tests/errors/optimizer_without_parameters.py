# run: --torch
"""An optimizer for a model without parameters."""

import torch

torch.optim.SGD(torch.nn.ReLU().parameters(), lr=0.1)
