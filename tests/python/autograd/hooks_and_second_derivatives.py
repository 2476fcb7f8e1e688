# run: --torch
# run: --torch --capture=stress
# run: --torch --capture=off
"""Gradients of gradients come to a result also from calls that have saved it: its hooks see these as well."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

torch.set_default_dtype(torch.float64)
table = wave(6, 3).requires_grad_()
weight = (wave(3, 3) * 0.5).requires_grad_()
items, seen = [], []


def row(n):
    return torch.tanh(table[n])


def both(n):
    a = torch.sigmoid(table[n] @ weight)
    return a, torch.exp(a * 0.5)


def pair(n):
    """Two results that don't follow from each other."""
    a = table[n]
    return torch.sin(a), torch.cos(a) * 2


def doubled(g):
    return g * 2


def noted(g):
    seen.append(g.norm())


def second(results, hooks):
    """`hooks`: by result."""
    table.grad = weight.grad = None
    seen.clear()
    handles = [t.register_hook(hook) for t, of in zip(results, hooks) for hook in of]
    loss = sum((t * t * (1 + k)).sum() for k, t in enumerate(results))
    grads = torch.autograd.grad(loss, [table, weight], create_graph=True, allow_unused=True)
    first = len(seen)
    sum((g * g).sum() for g in grads if g is not None).backward()
    found = [table.grad.norm(), weight.grad is not None and weight.grad.norm()]
    return found, [g is not None and g.norm() for g in grads], first, list(seen), len(handles)


for turn in range(14):
    results = [
        second([row(1)], [[doubled]]),
        second([row(2)], [[noted]]),
        second([row(2)], [[doubled, noted, doubled]]),
        second(both(3), [[doubled], []]),
        second(both(3), [[], [doubled]]),
        second(both(4), [[noted], [doubled, noted]]),
        second(pair(5), [[doubled], [noted]]),
        second(pair(5), [[], [doubled]]),
        second([row(0)], [[]]),
    ]
    if turn in (0, 13):
        items.append((f"turn {turn}", results))

for turn in range(14):
    kept = row(turn % 6)
    kept.retain_grad()
    (g,) = torch.autograd.grad((kept * kept).sum(), table, create_graph=True)
    before = kept.grad
    (g * g).sum().backward()
    if turn in (0, 13):
        items.append((f"retained {turn}", [before is None, kept.grad]))

for turn in range(14):
    h = row(turn % 6)
    handle = h.register_hook(doubled)
    (g,) = torch.autograd.grad((h * h).sum(), table, create_graph=True)
    handle.remove()
    h.register_hook(noted)
    seen.clear()
    table.grad = None
    (g * g).sum().backward()
    if turn in (0, 13):
        items.append((f"removed {turn}", [table.grad.norm(), list(seen)]))

check(items, __file__)
