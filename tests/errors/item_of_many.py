# run: --torch
"""item() of more than one number."""

import torch

torch.ones(2, 3).item()
