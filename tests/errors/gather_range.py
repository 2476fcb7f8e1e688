# run: --torch
"""An index past the end in gather."""

import torch

torch.ones(2, 3).gather(1, torch.tensor([[5]]))
