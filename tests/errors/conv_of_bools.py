# run: --torch
"""A convolution of bools."""

import torch

torch.nn.functional.conv2d(torch.ones(1, 1, 3, 3, dtype=torch.bool), torch.ones(1, 1, 2, 2, dtype=torch.bool))
