# run: --torch
"""A function that does not exist."""

import torch

torch.not_a_function
