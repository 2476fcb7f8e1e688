# run: --torch
"""A float result written into integers."""

import torch

torch.tensor([1, 2]).add_(0.5)
