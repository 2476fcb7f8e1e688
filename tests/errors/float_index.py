# run: --torch
"""A float tensor as an index."""

import torch

torch.ones(3)[torch.tensor([0.5])]
