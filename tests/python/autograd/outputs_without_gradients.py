# run: --torch
# run: --torch --capture=off
"""Functions with outputs that have no gradient: what their backward gets for these, and the base class of older programs."""

import pathlib
import sys

import torch
from torch.autograd.function import Function, InplaceFunction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

items = []
arrived = []


class Sorted(Function):
    """The elements in order, where each was, and a number."""

    @staticmethod
    def forward(ctx, x, materialize):
        places = x.argsort()
        ctx.mark_non_differentiable(places)
        ctx.set_materialize_grads(materialize)
        ctx.save_for_backward(places)
        return x[places], places, x[places] > 1, 7

    @staticmethod
    def backward(ctx, grad, of_places, of_larger, of_number):
        arrived.append((of_places, of_larger, of_number))
        (places,) = ctx.saved_tensors
        return torch.zeros_like(grad).index_copy(0, places, grad), None


for materialize in (True, False):
    for _ in range(14):
        x = torch.tensor([3.0, 1.0, 2.0], requires_grad=True)
        values, places, larger, number = Sorted.apply(x, materialize)
        (values * torch.arange(3.0)).sum().backward()
    items.append((f"materialize {materialize}", [places, larger, number, places.requires_grad, x.grad, *arrived[-1]]))


class Rounded(InplaceFunction):
    @staticmethod
    def forward(ctx, x, inplace=False):
        ctx.inplace = inplace
        if ctx.inplace:
            ctx.mark_dirty(x)
        return (x if inplace else x.clone()).round_()

    @staticmethod
    def backward(ctx, grad):
        return grad * 2, None


for inplace in (False, True):
    x = torch.tensor([1.4, 2.6], requires_grad=True)
    y = x * 1
    z = Rounded.apply(y, inplace)
    z.sum().backward()
    items.append((f"in place {inplace}", [y, z, z is y, x.grad]))
try:
    Rounded.apply(torch.ones(2, requires_grad=True), True)
except RuntimeError as error:
    items.append(("of a leaf", str(error)))

check(items, __file__)
