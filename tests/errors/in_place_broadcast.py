# run: --torch
"""An in-place result that does not fit into its tensor."""

import torch

torch.ones(3).add_(torch.ones(2, 3))
