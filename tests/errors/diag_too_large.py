# run: --torch
"""A diagonal matrix that no memory holds."""

import torch

torch.diag(torch.ones(3), 2**31)
