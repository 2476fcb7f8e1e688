# run: --torch
"""Special functions at infinity have PyTorch's values, which are not always their limits."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

ends = torch.tensor([torch.inf, -torch.inf, torch.nan, 700.0])
twos = torch.full((4,), 2.0)

ITEMS = """
torch.i0(ends) | torch.special.i1(ends) | torch.special.i0e(ends) | torch.special.i1e(ends) | torch.i0(ends.double())
torch.polygamma(1, ends) | torch.polygamma(2, ends) | torch.polygamma(4, ends) | torch.polygamma(1, ends.half()).dtype
torch.special.zeta(ends, twos) | torch.special.zeta(twos, ends) | torch.special.zeta(torch.ones(4), ends)
torch.special.zeta(torch.full((4,), torch.nan), -ends) | torch.special.zeta(torch.tensor([torch.nan]), torch.tensor([-2.5]))
torch.polygamma(3, torch.tensor([0.5, 2.0, 1e6])) | torch.polygamma(1, torch.tensor([0.5, 2.0, 1e6]))
"""
check(list(outcomes(ITEMS, globals())), __file__)
