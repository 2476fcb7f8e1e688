# run: --torch
"""A product of float and double matrices."""

import torch

torch.ones(2, 3) @ torch.ones(3, 2).double()
