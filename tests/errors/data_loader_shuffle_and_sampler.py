# run: --torch
"""Two orders for one loader."""

from torch.utils.data import DataLoader, SequentialSampler

data = [1, 2, 3]
DataLoader(data, shuffle=True, sampler=SequentialSampler(data))
