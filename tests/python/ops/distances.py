# run: --torch
"""Distances of rows in norms of all kinds of orders: values and gradients as PyTorch's, second ones by differences."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

F = torch.nn.functional
INF = float("inf")
A, B, ROWS = wave(5, 19), wave(4, 19) + 0.1, wave(6, 3)
items = []


def gradient(name, function, *arguments):
    arguments = [t.detach().clone().requires_grad_() for t in arguments]
    weights = wave(function(*arguments).numel())
    items.append((name, list(torch.autograd.grad((function(*arguments).flatten() * weights).sum(), arguments))))


def second(name, function, *arguments, step=1e-6):
    """The derivative of a derivative, where the function bends, by differences."""

    def slope(xs):
        (found,) = torch.autograd.grad((function(*xs) ** 2).sum(), xs[0], create_graph=True)
        return (found * torch.cos(torch.arange(found.numel(), dtype=found.dtype)).reshape(found.shape)).sum()

    arguments = [t.detach().clone().requires_grad_() for t in arguments]
    found = torch.autograd.grad(slope(arguments), arguments)
    way = [torch.sin(3 * wave(*t.shape)) for t in arguments]
    ends = [slope([(t + s * d).detach().requires_grad_() for t, d in zip(arguments, way)]).item() for s in (step, -step)]
    along, want = sum((f * d).sum().item() for f, d in zip(found, way)), (ends[0] - ends[1]) / (2 * step)
    assert abs(along - want) <= 1e-5 * max(1, abs(want)), (name, along, want)


for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, INF):
    def between(a, b, p=p):
        return torch.cdist(a, b, p, compute_mode="donot_use_mm_for_euclid_dist")

    def among(a, p=p):
        return F.pdist(a, p)

    for dtype in (torch.float64, torch.float32):
        items.append((f"cdist {p}", between(A.to(dtype), B.to(dtype))))
        items.append((f"pdist {p}", among(ROWS.to(dtype))))
    items.append((f"cdist {p} of batches", torch.cdist(wave(2, 1, 3, 4), wave(3, 2, 4) - 0.2, p)))
    items.append((f"cdist {p} turned", between(A.t().contiguous().t(), B[:, ::1])))
    gradient(f"cdist {p} gradient", between, A, B)
    gradient(f"pdist {p} gradient", among, ROWS)
    gradient(f"cdist {p} gradient, equal rows", between, A, A[:2].clone())
    items.append((f"cdist {p} of nothing", [torch.cdist(torch.ones(0, 3), torch.ones(2, 3), p), torch.cdist(torch.ones(2, 0), torch.ones(3, 0), p)]))
    items.append((f"pdist {p} of nothing", [F.pdist(torch.ones(1, 3), p), F.pdist(torch.ones(0, 3), p), F.pdist(torch.ones(3, 0), p)]))
    if torch.__name__ != "torch" and p != 0:
        second(f"cdist {p}", between, A, 1.3 * B.flip(0))
        second(f"pdist {p}", among, ROWS)
items.append(("NaN", [torch.cdist(torch.tensor([[float("nan"), 1.0]]), torch.zeros(1, 2), p) for p in (0.0, 1.0, 2.0, 3.0)]))
for name, call in {
    "of halves": lambda: F.pdist(ROWS.half()), "of a vector": lambda: F.pdist(ROWS[0]), "of ints": lambda: F.pdist(ROWS.long()),
    "negative": lambda: F.pdist(ROWS, -1.0),
}.items():  # fmt: skip
    try:
        call()
    except Exception as error:
        items.append((name, f"{type(error).__name__} {str(error)}"))
check(items, __file__)
