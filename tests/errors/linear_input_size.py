# run: --torch
"""A batch with the wrong number of features."""

import torch

layer = torch.nn.Linear(4, 2)
layer(torch.ones(3, 5))
