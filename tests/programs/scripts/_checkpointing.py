"""Checkpoints: modules with counters and dropout, a sequential in segments, a function with two results."""
import math

from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential
import torch


def show(name, t):
    print(name, [float(f'{v:.4g}') for v in t.detach().double().flatten().tolist()])


def init(m, s=0.9):
    with torch.no_grad():
        for p in m.parameters():
            p.copy_((torch.cos(torch.arange(float(p.numel())) * s) * 0.3).reshape(p.shape))
    return m


def data(i, *shape):
    n = math.prod(shape)
    return torch.sin(torch.arange(float(n)) * 0.37 + i).reshape(shape)


torch.manual_seed(1)


class Blk(nn.Module):

    def __init__(self, d):
        super().__init__()
        self.l = nn.Linear(d, d)
        self.d = nn.Dropout(0.3)
        self.n = 0

    def forward(self, x, k=1.0):
        self.n += 1
        return self.d(torch.relu(self.l(x))) * k


bs = init(nn.ModuleList([Blk(4) for _ in range(3)]))
opt = torch.optim.SGD(bs.parameters(), lr=0.1)


def step(x, use):
    h = x
    for j, b in enumerate(bs):
        h = checkpoint(b, h, k=1.0 + j, use_reentrant=False) if use else b(h, k=1.0 + j)
    loss = h.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss


for i in range(14):
    show(f'{i}', step(data(i, 3, 4), i % 3 != 0))
    print([b.n for b in bs])


seq = init(nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh()))
for i in range(12):
    x = data(i, 2, 4).requires_grad_()
    seq.zero_grad()
    out = checkpoint_sequential(seq, 2, x, use_reentrant=False)
    out.sum().backward()
    show(f's{i}', x.grad)


def two(x, y):
    return (x * y, torch.sin(x))


for i in range(12):
    x, y = (data(i, 3).requires_grad_(), data(i + 1, 3).requires_grad_())
    a, b = checkpoint(two, x, y, use_reentrant=False, preserve_rng_state=False)
    (a.sum() + (b * y).sum()).backward()
    show(f't{i}', torch.cat([x.grad, y.grad]))
