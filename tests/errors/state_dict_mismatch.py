# run: --torch
"""Saved parameters of another model."""

import torch

model = torch.nn.Linear(2, 3)
model.load_state_dict({"weight": torch.ones(3, 4), "extra": torch.ones(1)})
