# run: --torch
"""A view of more than there is, by numbers whose product wraps around."""

import torch

torch.arange(4).as_strided((2**62,), (4,))
