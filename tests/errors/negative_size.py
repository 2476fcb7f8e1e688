# run: --torch
"""A negative size."""

import torch

torch.zeros(-1)
