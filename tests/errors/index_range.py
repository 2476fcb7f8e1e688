# run: --torch
"""An index past the end."""

import torch

torch.ones(2, 3)[5]
