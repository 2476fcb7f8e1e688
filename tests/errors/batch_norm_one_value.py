# run: --torch
"""Training statistics over a single value."""

import torch

layer = torch.nn.BatchNorm1d(4)
layer(torch.ones(1, 4))
