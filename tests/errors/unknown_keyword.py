# run: --torch
"""A keyword that the function does not have."""

import torch

torch.zeros(2, colour=3)
