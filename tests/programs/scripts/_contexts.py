"""Context managers of all kinds round a function that returns, raises and goes on."""
import contextlib
import math

import torch


def show(name, t):
    print(name, [float(f'{v:.4g}') for v in t.detach().double().flatten().tolist()])


def data(i, *shape):
    n = math.prod(shape)
    return torch.sin(torch.arange(float(n)) * 0.37 + i).reshape(shape)


stack = []


@contextlib.contextmanager
def scope(name, k):
    stack.append(name)
    try:
        yield (k * 2)
    finally:
        stack.append('-' + name)


class Frozen:

    def __init__(self, *ps):
        self.ps = ps

    def __enter__(self):
        self.old = [p.requires_grad for p in self.ps]
        for p in self.ps:
            p.requires_grad_(False)
        return self

    def __exit__(self, et, e, tb):
        for p, o in zip(self.ps, self.old):
            p.requires_grad_(o)
        return et is KeyError


a = torch.ones(3, requires_grad=True)
b = torch.ones(3, requires_grad=True)


def f(x, i):
    with scope('a', i) as k, scope('b', k) as k2:
        y = x * k2 + a
        if i % 4 == 3:
            return y * b
    with Frozen(a):
        y = y + a * b
        if i % 5 == 4:
            raise KeyError(i)
        y = y * 2
    with contextlib.suppress(ZeroDivisionError):
        y = y / (i % 3 and 1 or 1 // (i % 3))
        y = y + 100
    with contextlib.ExitStack() as es:
        es.callback(stack.append, f'cb{i}')
        es.enter_context(torch.no_grad())
        z = y * 3
    return y + z


for i in range(18):
    out = f(data(i, 3), i)
    a.grad = b.grad = None
    if out.requires_grad:
        out.sum().backward()
    show(f'{i} {a.requires_grad}', out)
    print(a.grad is None, None if b.grad is None else b.grad.tolist())


print(' '.join(stack))
