# run: --torch
"""The mean of integers."""

import torch

torch.tensor([1, 2]).mean()
