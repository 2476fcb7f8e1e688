# run: --torch
"""An integer to a negative power."""

import torch

torch.arange(4) ** -1
