# run: --torch
# run: --torch --capture=stress
# run: --torch --capture=off
"""Checkpoints of functions that keep different tensors for backward and lead to different parameters: what the first pass
has kept, and which leaves it led to, is said of the function that was called."""

import pathlib
import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

seen = []


class Block(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.weight = nn.Parameter(wave(3, 3) * (1 + k))
        self.steps = k

    def forward(self, x):
        x = torch.tanh(x @ self.weight)
        seen.append(sys._getframe().f_code.co_name)
        for _ in range(self.steps):
            x = x.sin() * 1.5
        return x * 2 if x.sum().item() > 0 else x * 3


def loss(block, x):
    return checkpoint(block, x, use_reentrant=False).sum()


blocks = [Block(k) for k in range(4)]
functions = [lambda x, k=k: (x * blocks[k].weight.sum()).sin() if k % 2 else x.exp() * blocks[k].weight[0] for k in range(4)]
items = []
for i in range(40):
    k = i // 3 % 4 if i < 24 else i % 4
    x = wave(2, 3) * 0.1 * i
    (loss(blocks[k], x) + loss(functions[k], x)).backward()
    items.append((i, [block.weight.grad.clone() for block in blocks if block.weight.grad is not None]))
check(items, __file__)
