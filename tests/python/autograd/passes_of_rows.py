# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
"""Gradients inside vmap: each call passes over the same history, which none of them frees for the others."""

import pathlib
import sys

import torch
from torch.func import grad, vmap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

items = []
w = wave(3, 3).requires_grad_()
x = wave(4, 3)


def rows(function):
    """The Jacobian of function(w), row by row."""
    y = function(w)
    vectors = torch.eye(y.numel(), dtype=y.dtype).reshape(-1, *y.shape)
    return vmap(lambda v: torch.autograd.grad(y, w, v)[0])(vectors)


for round_number in range(4):
    items.append(("products", rows(lambda w: (x @ w).tanh().sum(1))))
    items.append(("vectors", rows(lambda w: (w @ w).exp().mean(0))))
    items.append(("one row", rows(lambda w: (w * w).sin().sum())))

outer = (w * 2).sin()
kept = vmap(lambda v: torch.autograd.grad(outer, w, v, retain_graph=True)[0])(torch.stack([x[:3], x[1:]]))
items.append(("kept", [kept, torch.autograd.grad(outer.sum(), w)]))
items.append(("grad", vmap(grad(lambda row: (row @ w.detach()).square().sum()))(x)))
again = (w * 2).cos()
torch.autograd.grad(again.sum(), w)
try:
    torch.autograd.grad(again.sum(), w)
    items.append(("outside", "kept"))
except RuntimeError:
    items.append(("outside", "freed"))

# ---- a class of parameters that marks itself ----


class Marked(torch.nn.Parameter):
    def __new__(cls, data):
        made = torch.Tensor._make_subclass(cls, data, True)
        made._is_param = True
        return made


marked = Marked(torch.ones(2))
items.append(("marked", [marked._is_param, isinstance(marked, torch.nn.Parameter), type(marked).__name__, marked.requires_grad]))

check(items, __file__)
