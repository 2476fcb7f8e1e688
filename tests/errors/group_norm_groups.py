# run: --torch
"""Channels that the groups do not divide."""

import torch

torch.nn.GroupNorm(2, 3)
