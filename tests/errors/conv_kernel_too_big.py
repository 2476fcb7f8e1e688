# run: --torch
"""A kernel that is larger than the image."""

import torch

layer = torch.nn.Conv2d(1, 1, 9)
layer(torch.ones(1, 1, 4, 4))
