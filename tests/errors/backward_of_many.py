# run: --torch
"""backward() of more than one number."""

import torch

(torch.ones(2, requires_grad=True) * 2).backward()
