# run: --torch
"""A word number that the table does not have."""

import torch

table = torch.nn.Embedding(3, 2)
table(torch.tensor([3]))
