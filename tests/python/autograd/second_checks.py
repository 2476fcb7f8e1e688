# run: --torch
"""gradgradcheck: what it draws, and functions of which some results have no gradient."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

items = []
a, b = (torch.linspace(low, 1.5, 12, dtype=torch.float64).reshape(3, 4).requires_grad_() for low in (-1, 0.3))
fixed = torch.ones(3, 4, dtype=torch.float64)


def mixed(a, b):
    return (a > 0), fixed * 2, a * b.sin(), a.detach(), (a.exp() * b).sum(), a.argmax()


class Doubled(torch.autograd.Function):
    """Its second gradient is wrong."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g * ctx.saved_tensors[0].detach()


for name, func, inputs, options in (
    ("one result", lambda a, b: a * b.sin(), (a, b), {}),
    ("many", lambda a: a.repeat(4, 4).cos(), (a,), {}),
    ("some without", mixed, (a, b), {}),
    ("not contiguous", lambda a, b: a * b.exp(), (a, b), {"gen_non_contig_grad_outputs": True}),
    ("complex", lambda a: torch.complex(a, a * a), (a,), {}),
    ("given", lambda a: a.tan(), (a,), {"grad_outputs": torch.ones(3, 4, dtype=torch.float64, requires_grad=True)}),
    ("wrong", Doubled.apply, (a,), {"raise_exception": False}),
):
    torch.manual_seed(5)
    items.append((name, torch.autograd.gradgradcheck(func, inputs, **options)))
    items.append(("then", torch.rand(3, dtype=torch.float64)))

check(items, __file__)
