# run: --torch
"""Concatenating tensors that differ in another dimension."""

import torch

torch.cat([torch.ones(2, 3), torch.ones(2, 4)])
