# run: --torch
"""A convolution of float32 images with float64 filters."""

import torch

torch.nn.functional.conv_transpose2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2).double())
