# run: --torch
"""A view of a transposed tensor."""

import torch

torch.ones(2, 3).t().view(6)
