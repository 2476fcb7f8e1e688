"""Euler steps with varying counts, and adaptive ones whose count depends on tensor values."""
import torch, torch.nn as nn
torch.manual_seed(6)
f = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 2))
opt = torch.optim.SGD(f.parameters(), lr=0.05)
A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])


def euler(g, y, n, dt):
    ys = [y]
    for _ in range(n):
        y = y + dt * g(y)
        ys.append(y)
    return torch.stack(ys)


def adaptive(g, y, tol, dt=0.1):
    t = 0.0
    n = 0
    while t < 0.5:
        k = g(y)
        e = (dt * k).norm()
        if e > tol:
            dt = dt * 0.5
        else:
            y = y + dt * k
            t += dt
            dt = min(dt * 1.5, 0.2)
        n += 1
        if n > 40:
            break
    return (y, n)


for it in range(25):
    y0 = torch.randn(4, 2) * 0.5
    n = 2 + it % 3
    with torch.no_grad():
        true = euler(lambda y: y @ A.T, y0, n, 0.05)
    l = ((euler(f, y0, n, 0.05) - true) ** 2).mean()
    opt.zero_grad()
    l.backward()
    opt.step()
    if it % 4 == 0:
        z, k = adaptive(f, y0, 0.15)
        print(it, f'{l.item():.5f} {z.detach().sum().item():.4f}', k)
