# run: --torch
"""More indices than dimensions."""

import torch

torch.ones(2, 3)[0, 0, 0]
