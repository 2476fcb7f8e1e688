# run: --torch
"""A class number out of range in a captured step: nothing of the step has happened."""

import torch
import torch.nn.functional as F

layer = torch.nn.Linear(3, 3)
opt = torch.optim.SGD(layer.parameters(), lr=0.1)
steps = []


def step(x, y):
    opt.zero_grad()
    loss = F.cross_entropy(layer(x), y)
    loss.backward()
    opt.step()
    steps.append(1)
    return loss


for _ in range(20):
    step(torch.ones(2, 3), torch.tensor([0, 2]))
before = layer.weight.detach().clone()
try:
    step(torch.ones(2, 3), torch.tensor([0, 9]))
finally:
    assert len(steps) == 20 and torch.equal(before, layer.weight), "the failed step left something behind"
