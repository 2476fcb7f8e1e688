"""Nested containers of tensors, mapped, flattened by recursive generators, grouped."""
from collections import defaultdict, namedtuple
import math

import torch


def show(name, t):
    print(name, [float(f'{v:.4g}') for v in t.detach().double().flatten().tolist()])


def data(i, *shape):
    n = math.prod(shape)
    return torch.sin(torch.arange(float(n)) * 0.37 + i).reshape(shape)


def tree_map(f, t):
    if isinstance(t, dict):
        return {k: tree_map(f, v) for k, v in t.items()}
    if isinstance(t, (list, tuple)):
        out = [tree_map(f, v) for v in t]
        return type(t)(*out) if hasattr(t, '_fields') else type(t)(out)
    return f(t) if torch.is_tensor(t) else t


def flatten(t, pre=''):
    if isinstance(t, dict):
        for k, v in t.items():
            yield from flatten(v, f'{pre}.{k}')
    elif isinstance(t, (list, tuple)):
        for i, v in enumerate(t):
            yield from flatten(v, f'{pre}[{i}]')
    else:
        yield (pre, t)


B = namedtuple('B', 'x meta')


def work(batch, s):
    b = tree_map(lambda v: v * s, batch)
    names = []
    tot = 0
    for n, v in flatten(b):
        names.append(n)
        if torch.is_tensor(v):
            tot = tot + v.sum()
    return (tot, names, b)


for i in range(16):
    batch = {'a': data(i, 2), 'b': [data(1, 2), (data(2, 1), 3)], 'c': B(data(i, 1), {'k': 'v'})} if i % 3 else [data(i, 2), {'z': data(i, 1)}]
    t, n, b = work(batch, 1.0 + i * 0.1)
    show(f'{i} {n}', t)


def stats(ds):
    return {k: (sum((d[k].mean() for d in ds)) / len(ds), max(ds, key=lambda d: d[k].sum().item())[k]) for k in ds[0]}


for i in range(12):
    s = stats([{'u': data(i + j, 2), 'v': data(i - j, 2)} for j in range(3)])
    show(f's{i}', torch.cat([torch.cat([a.view(1), b]) for a, b in s.values()]))


def group(xs, ys):
    g = defaultdict(list)
    for x, y in zip(xs, ys.tolist()):
        g[y].append(x)
    return {k: torch.stack(v).mean(0) for k, v in sorted(g.items())}


for i in range(12):
    r = group(data(i, 5, 2), torch.arange(5) * (i + 1) % 3)
    show(f'g{i} {list(r)}', torch.cat(list(r.values())))
