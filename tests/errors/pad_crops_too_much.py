# run: --torch
"""Padding that takes away more than there is."""

import torch

torch.nn.functional.pad(torch.arange(1.0, 3.0), (5, -4))
