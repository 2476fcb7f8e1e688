# run: --torch
"""numpy() of a tensor that requires grad."""

import torch

torch.ones(2, requires_grad=True).numpy()
