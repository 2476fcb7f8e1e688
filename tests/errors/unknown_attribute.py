# run: --torch
"""An attribute that a module does not have."""

import torch

model = torch.nn.Linear(2, 2)
model.wieght
