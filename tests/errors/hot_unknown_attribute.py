# run: --torch
"""An attribute that disappears from a captured module."""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
        self.scale = 2.0

    def forward(self, x):
        return self.layer(x) * self.scale


net = Net()
for _ in range(20):
    net(torch.ones(1, 2))
del net.scale
net(torch.ones(1, 2))
