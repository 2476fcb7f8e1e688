"""Modules by inheritance, mixins and registries, with an overridden __call__ and a class that changes."""
import itertools
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


class Base(nn.Module):
    registry = {}

    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        Base.registry[cls.__name__] = cls

    def __init__(self, d):
        super().__init__()
        self.d = d
        self.build()

    def build(self):
        self.l = nn.Linear(self.d, self.d)

    def forward(self, x):
        x = self.before(x)
        x = self.body(x)
        return self.after(x)

    def before(self, x):
        return x

    def body(self, x):
        return self.l(x)

    def after(self, x):
        return x


class Mix:
    k = 3

    def after(self, x):
        return super().after(x) * self.k


class Deep(Mix, Base):

    def build(self):
        super().build()
        self.m = nn.ModuleDict({'a': nn.Linear(self.d, self.d), 'b': nn.Identity()})
        self.order = ['a', 'b']

    def body(self, x):
        for k in self.order:
            x = torch.relu(self.m[k](x)) + x
        return super().body(x)

    @property
    def width(self):
        return self.d * 2

    def __call__(self, x, *, gain=1.0):
        return super().__call__(x) * gain


class Par(Base):

    def build(self):
        self.w = nn.ParameterList([nn.Parameter(torch.ones(self.d) * (k + 1)) for k in range(2)])
        self.pd = nn.ParameterDict({'s': nn.Parameter(torch.tensor(0.5))})

    def body(self, x):
        for w in self.w:
            x = x * w
        return x * self.pd['s']


nets = [init(Base.registry[n](3)) for n in ('Deep', 'Par')]
opt = torch.optim.SGD(itertools.chain(*(n.parameters() for n in nets)), lr=0.05)
for i in range(18):
    if i == 8:
        nets[0].order.append('a')
    if i == 11:
        Mix.k = -1
    if i == 14:
        nets[1].__class__ = type('Par2', (Par,), {'after': lambda self, x: x + self.d})
    y = nets[0](data(i, 2, 3), gain=1.0 + 0.1 * i) + nets[1](data(i, 2, 3))
    l = y.pow(2).mean()
    opt.zero_grad()
    l.backward()
    opt.step()
    show(f'{i} {nets[0].width}', l)


print(sorted(Base.registry), [n for n, _ in nets[1].named_parameters()])
