"""Hooks on tensors, second derivatives, several roots, jacobians."""
import math

import torch


def show(name, t):
    print(name, [float(f'{v:.4g}') for v in t.detach().double().flatten().tolist()])


def data(i, *shape):
    n = math.prod(shape)
    return torch.sin(torch.arange(float(n)) * 0.37 + i).reshape(shape)


log = []
w = data(0, 3).requires_grad_()


def f(x, i):
    y = w * x
    h = y.register_hook(lambda g: g * (1 + i % 3))
    y.retain_grad()
    z = (y ** 2).sum()
    z.backward()
    h.remove()
    return (y.grad, z.detach())


for i in range(14):
    w.grad = None
    g, z = f(data(i, 3), i)
    show(f'{i}', torch.cat([g, w.grad, z.view(1)]))


h = w.register_hook(lambda g: log.append(g.sum().item()) or g.clamp(-0.5, 0.5))


def g(x):
    w.grad = None
    (w * x).sum().backward()
    return w.grad


for i in range(14):
    if i == 9:
        h.remove()
    show(f'g{i}', g(data(i, 3)))


print([f'{v:.3f}' for v in log])
acc = []


def k(x):
    with torch.no_grad():
        s = (w * x).sum()
    with torch.enable_grad():
        t = (w * x).sum()
    return (s.requires_grad, t.requires_grad, torch.autograd.grad(t * s, w)[0])


for i in range(12):
    a, b, c = k(data(i, 3))
    show(f'k{i} {a} {b}', c)


def double(x):
    x = x.clone().requires_grad_()
    y = (x ** 3).sum()
    g, = torch.autograd.grad(y, x, create_graph=True)
    h, = torch.autograd.grad(g.sum(), x, retain_graph=True)
    g2 = torch.autograd.grad((g * h).sum(), x)[0]
    return (g, h, g2)


for i in range(12):
    show(f'd{i}', torch.cat(double(data(i, 2))))


def multi(x):
    x = x.clone().requires_grad_()
    a = x.sin()
    torch.autograd.backward([a.sum(), (a * 2).sum()], [torch.tensor(1.0), torch.tensor(0.5)])
    return x.grad


for i in range(12):
    show(f'm{i}', multi(data(i, 2)))


def jac(x):
    return (torch.autograd.functional.jacobian(lambda v: v ** 2 * x, x), torch.autograd.functional.hessian(lambda v: (v ** 3).sum(), x), torch.autograd.functional.vjp(lambda v: v * 2, x, x)[1])


for i in range(12):
    show(f'j{i}', torch.cat([t.flatten() for t in jac(data(i, 2))]))
