"""What the programs about gradients share."""
import sys

import terra
from terra import nn


def t(i, n=3):
    return terra.sin(terra.arange(float(n)) + i)


def leaf(i=0, n=3):
    return t(i, n).requires_grad_()


def passed_twice(f):
    """A call of f whose gradient comes later: twice, and once too often."""
    def call(*arguments):
        here = sys._getframe()
        y = f(*arguments).sum()
        y.backward(retain_graph=True)
        y.backward()
        try:
            y.backward()
        except RuntimeError as error:
            return arguments[0].grad, str(error)[:60]
    call.target = f
    return call


class Net(nn.Module):
    def __init__(self, seed=1):
        super().__init__()
        terra.manual_seed(seed)
        self.a = nn.Linear(4, 5)
        self.b = nn.Linear(5, 3)

    def forward(self, x):
        return self.b(terra.tanh(self.a(x)))


class Seen:
    """Shows tensors and their gradients to the harness."""
    def __init__(self, *things):
        self.things = things

    def leaves(self):
        for thing in self.things:
            yield from thing.parameters() if isinstance(thing, nn.Module) else [thing]

    @property
    def __dict__(self):
        return {"state": [(p.detach(), p.grad, p._version, p.requires_grad) for p in self.leaves()]}


class Near(Seen):
    """The same for second derivatives, whose sums a pair takes in another order than the tape of single calls."""
    @property
    def __dict__(self):
        return {"state": [(p.grad * 1000).round() + 0 for p in self.leaves()]}
