# run: --torch
"""An image given to a one-dimensional norm."""

import torch

layer = torch.nn.BatchNorm1d(4)
layer(torch.ones(1, 4, 3, 3))
