# run: --torch
"""A layer norm whose weights are of another dtype."""

import torch

torch.nn.functional.layer_norm(torch.ones(2, 3), (3,), torch.ones(3, dtype=torch.float64))
