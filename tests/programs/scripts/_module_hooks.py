"""Hooks on modules, forward and backward, that come and go between steps."""
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


net = init(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))
log = []
feats = {}


def fwd(m, a, out):
    feats[type(m).__name__] = out
    log.append(('f', tuple(out.shape)))


def pre(m, a):
    log.append('p')
    return (a[0] * 2,)


def full(m, gi, go):
    log.append(('b', [None if g is None else round(g.abs().sum().item(), 3) for g in gi], round(go[0].abs().sum().item(), 3)))


def fullpre(m, go):
    log.append(('bp', len(go)))
    return (go[0] * 0.5,)


hs = [net[0].register_forward_hook(fwd), net[2].register_forward_pre_hook(pre), net[2].register_full_backward_hook(full)]


def step(x):
    net.zero_grad()
    loss = net(x).pow(2).sum()
    loss.backward()
    return loss


for i in range(16):
    if i == 5:
        hs.append(net[2].register_full_backward_pre_hook(fullpre))
    if i == 9:
        hs[0].remove()
    if i == 11:
        hs[2].remove()
        hs.append(net[1].register_forward_hook(lambda m, a, o: o * 0.5))
    l = step(data(i, 2, 3).requires_grad_(i % 2 == 0))
    show(f'{i}', l)
    show('g', net[0].weight.grad)


for e in log:
    print(e)
