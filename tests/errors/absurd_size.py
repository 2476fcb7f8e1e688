# run: --torch
"""More memory than any machine has."""

import torch

torch.ones(1 << 45)
