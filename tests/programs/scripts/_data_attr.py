"""Parameters changed behind the tape, made lazily, and a loss that comes from outside."""
import math

from torch import nn
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


p = nn.Parameter(data(0, 3))


def f(x, lr):
    loss = ((p * x) ** 2).sum()
    loss.backward()
    p.data -= lr * p.grad.data
    p.grad.data.zero_()
    return loss.data


for i in range(14):
    show(f'{i}', f(data(i, 3), 0.05 + i * 0.01))


def g(x):
    v = p.data
    v.clamp_(-0.5, 0.5)
    p.data = v * 1.01
    q = nn.Parameter(x.clone())
    (q * p).sum().backward()
    with torch.no_grad():
        p.grad.zero_()
    return (q.grad.detach() + q.data, q)


for i in range(14):
    r, q = g(data(i, 3))
    show(f'g{i}', r)
    print(type(q).__name__, q.requires_grad, q.is_leaf, p._version >= 0)


def late(loss):
    loss.backward()
    p.grad.mul_(0.5)
    return p.grad.sum()


for i in range(12):
    p.grad = None
    show(f'l{i}', late((p * data(i, 3)).sum()))


def clipw(m, c):
    for q in m.parameters():
        q.data.clamp_(-c, c)


m = init(nn.Linear(3, 2))
for i in range(12):
    clipw(m, 0.3 - i * 0.01)
    show(f'c{i}', m.weight)


class Lazy(nn.Module):

    def __init__(self):
        super().__init__()
        self.w = None

    def forward(self, x):
        if self.w is None:
            self.w = nn.Parameter(torch.ones(x.shape[-1]) * 0.5)
        return x * self.w


for i in range(12):
    l = Lazy()
    show(f'lz{i}', l(data(i, 3)) + l(data(i + 1, 3)))
    print([n for n, _ in l.named_parameters()])
