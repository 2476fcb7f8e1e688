# run: --torch
"""A tensor from lists of different lengths."""

import torch

torch.tensor([[1, 2], [3]])
