# run: --torch
"""A module without forward."""

import torch

class Net(torch.nn.Module):
    pass


Net()(torch.ones(2))
