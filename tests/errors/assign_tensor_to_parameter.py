# run: --torch
"""A plain tensor in the place of a parameter."""

import torch

model = torch.nn.Linear(2, 2)
model.weight = torch.ones(2, 2)
