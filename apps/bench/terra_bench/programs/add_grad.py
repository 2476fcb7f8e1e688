"""The same with gradients being recorded."""

from programs import add

REPEATS = add.REPEATS


def build(torch):
    return add.build(torch, requires_grad=True)
