# run: --torch
"""Examples of different sizes in a batch."""

import torch

from torch.utils.data import DataLoader

next(iter(DataLoader([torch.ones(2), torch.ones(3)], batch_size=2)))
