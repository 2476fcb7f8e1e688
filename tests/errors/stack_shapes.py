# run: --torch
"""Stacking tensors of different sizes."""

import torch

torch.stack([torch.ones(2, 3), torch.ones(3)])
