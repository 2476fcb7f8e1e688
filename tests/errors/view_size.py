# run: --torch
"""A view with another number of elements."""

import torch

torch.ones(2, 3).view(4, 2)
