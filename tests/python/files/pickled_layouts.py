# run: --torch
"""Pickles keep the order of a tensor's dimensions in memory."""

import pathlib
import pickle
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

items = []
rows = wave(3, 4)
images = wave(2, 3, 4, 5)
for name, tensor in (
    ("rows", rows), ("transposed", rows.t()), ("parameter", torch.nn.Parameter(rows.t())), ("number", rows[1, 2]),
    ("channels last", images.to(memory_format=torch.channels_last)), ("permuted", images.permute(2, 0, 3, 1)),
    ("asks", rows.t().clone().requires_grad_()), ("complex", torch.complex(rows, rows).t()), ("bools", (rows > 0).t()),
    ("3d", wave(1, 2, 3, 2, 2).to(memory_format=torch.channels_last_3d)),
):  # fmt: skip
    for protocol in (2, 5):
        copy = pickle.loads(pickle.dumps(tensor, protocol))
        equal = torch.equal(copy, tensor)
        items.append((name, (type(copy).__name__, copy.stride(), copy.requires_grad, equal, copy.detach().sum())))
net = torch.nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
copy = pickle.loads(pickle.dumps(net))
items.append(("module", (copy.weight.stride(), copy.weight.is_contiguous(memory_format=torch.channels_last))))
check(items, __file__)
