# run: --torch
"""A probability above one."""

import torch

torch.nn.Dropout(1.5)
