# run: --torch
"""A rotation of what has no plane."""

import torch

torch.rot90(torch.tensor(1.0), 1, (1, -1))
