# run: --torch
"""Two matrices whose inner sizes differ."""

import torch

torch.ones(2, 3) @ torch.ones(4, 5)
