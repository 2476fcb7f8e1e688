"""Random numbers of Python and of the engine that decide what is done to a tensor."""
import math
import random

import torch


def show(name, t):
    print(name, [float(f'{v:.4g}') for v in t.detach().double().flatten().tolist()])


def data(i, *shape):
    n = math.prod(shape)
    return torch.sin(torch.arange(float(n)) * 0.37 + i).reshape(shape)


random.seed(11)


def aug(x):
    if random.random() < 0.5:
        x = x.flip(0)
    k = random.randint(0, 2)
    x = x.roll(k)
    c = random.choice([0.5, 1.0, 2.0])
    u = random.uniform(-1, 1)
    g = random.gauss(0, 1)
    return (x * c + u + g * 0.1, k)


for i in range(24):
    y, k = aug(data(i, 4))
    show(f'{i} {k}', y)


order = list(range(6))


def epoch(xs):
    random.shuffle(order)
    s = random.sample(range(6), 3)
    tot = 0
    for j in order:
        tot = tot * 0.5 + xs[j]
    return (tot, s)


for i in range(14):
    t, s = epoch([data(i + j, 2) for j in range(6)])
    show(f'{order} {s}', t)


rng = random.Random(3)


def drop(x):
    return x * (rng.random() > 0.3) + rng.getrandbits(4) + rng.randrange(3)


for i in range(14):
    show(f'd{i}', drop(data(i, 2)))


torch.manual_seed(4)


def noise(x):
    return x + torch.randn(3) * 0.1 + torch.rand_like(x) + torch.randint(0, 5, (3,)) + torch.bernoulli(torch.full((3,), 0.5)) + torch.randperm(3)


for i in range(12):
    show(f'n{i}', noise(data(i, 3)))


st = torch.get_rng_state()
a = noise(data(0, 3))
torch.set_rng_state(st)
print(torch.equal(a, noise(data(0, 3))))
