# run: --torch
"""A dimension that is not there."""

import torch

torch.ones(2, 3).sum(3)
