# run: --torch
# run: --torch --capture=off
# run: --torch --capture=coexec TERRA_RUNNER=turns
# run: --torch --capture=stress
"""Frames that leave, enter and decorate with gradient modes that they didn't make: what was recorded, and the mode that comes back,
call after call with another one before."""

import pathlib
import sys

import torch

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = str(TESTS / "python"), str(TESTS / "semantics")
from _leaving import WAYS  # noqa: E402
from _oracle import check  # noqa: E402

w = torch.tensor([2.0, 3.0], requires_grad=True)
x = torch.tensor([1.0, -2.0])


class Counted(torch.no_grad):
    def __init__(self):
        super().__init__()
        self.left = 0

    def __exit__(self, *error):
        self.left += 1
        return super().__exit__(*error)


class Plain(torch.enable_grad):
    pass


MAKERS = {
    "enable_grad": torch.enable_grad,
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "a subclass of no_grad": Counted,
    "a subclass of enable_grad": Plain,
    "set_grad_enabled": lambda: torch.set_grad_enabled(True),
}


def product():
    return (x * w).sum()


def bits(*flags):
    return "".join(str(int(flag)) for flag in flags)


def left(way, name):
    rounds = []
    for i in range(18):
        torch.set_grad_enabled(i % 5 != 4)
        mode = MAKERS[name]()
        if name != "set_grad_enabled":
            mode.__enter__()
        inside, behind = way(mode, product)
        rounds.append(bits(inside.requires_grad, behind.requires_grad, torch.is_grad_enabled()))
        torch.set_grad_enabled(True)
    return " ".join(rounds)


def block(mode):
    with mode:
        return product()


def decorated(mode):
    return mode(product)()


def entered(mode):
    mode.__enter__()
    y = product()
    mode.__exit__(None, None, None)
    return y


def entered_by_class(mode):
    type(mode).__enter__(mode)
    y = product()
    mode.__exit__(None, None, None)
    return y


def run_in(way, makers):
    rounds = []
    for i in range(18):
        torch.set_grad_enabled(i % 3 != 2)
        y = way(makers[i % 2]())
        rounds.append(bits(y.requires_grad, torch.is_grad_enabled()))
        torch.set_grad_enabled(True)
    return " ".join(rounds)


items = [(f"{name} {way.__name__}", left(way, name)) for way in WAYS for name in MAKERS]
items += [
    (f"{way.__name__} {makers[0].__name__}", run_in(way, makers))
    for way in (block, decorated, entered, entered_by_class)
    for makers in ((torch.no_grad, torch.enable_grad), (Counted, Plain))
]
check(items, __file__)
