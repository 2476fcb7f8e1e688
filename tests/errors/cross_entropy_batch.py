# run: --torch
"""As many labels as there are no examples."""

import torch

torch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1, 2]))
