# run: --torch
"""A branch on more than one truth value."""

import torch

if torch.ones(2) > 0:
    print("positive")
