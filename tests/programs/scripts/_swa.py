"""Averaged weights, a search for the learning rate, parameters as one vector."""
import copy
import math

from torch import nn
import torch
import torch.nn.functional as F


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
opt = torch.optim.SGD(net.parameters(), lr=0.2)
avg = None
n = 0


def swa_update():
    global avg, n
    cur = {k: v.detach().clone() for k, v in net.named_parameters()}
    if avg is None:
        avg = cur
    else:
        for k in avg:
            avg[k] += (cur[k] - avg[k]) / (n + 1)
    n += 1


def step(x, y):
    l = F.mse_loss(net(x), y)
    opt.zero_grad()
    l.backward()
    opt.step()
    return l


for i in range(24):
    show(str(i), step(data(i, 4, 3), data(i + 1, 4, 1)))
    if i >= 8 and i % 2:
        swa_update()


with torch.no_grad():
    for k, p in net.named_parameters():
        p.copy_(avg[k])


show('swa', net(data(1, 2, 3)))
v = nn.utils.parameters_to_vector(net.parameters())
print(v.shape)
nn.utils.vector_to_parameters(v * 0.5, net.parameters())
show('half', net[0].bias)


def lr_find(lo, hi, k):
    saved = copy.deepcopy(net.state_dict())
    out = []
    for j in range(k):
        lr = lo * (hi / lo) ** (j / (k - 1))
        opt.param_groups[0]['lr'] = lr
        out.append((lr, step(data(j, 4, 3), data(j + 1, 4, 1)).item()))
    net.load_state_dict(saved)
    return out


for i in range(3):
    print([f'{a:.3g}:{b:.4f}' for a, b in lr_find(0.001, 1.0, 6)])
