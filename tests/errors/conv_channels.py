# run: --torch
"""An image with the wrong number of channels."""

import torch

layer = torch.nn.Conv2d(3, 8, 3)
layer(torch.ones(2, 1, 8, 8))
