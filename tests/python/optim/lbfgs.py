# run: --torch
# run: --torch --capture=off
"""LBFGS, with and without a line search, as PyTorch's."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

SETTINGS = (
    {"lr": 0.5, "max_iter": 4}, {"lr": 0.05}, {"lr": 0.1, "max_iter": 7, "history_size": 3}, {"tolerance_grad": 1.0},
    {"line_search_fn": "strong_wolfe"}, {"line_search_fn": "strong_wolfe", "max_iter": 3, "history_size": 2},
    {"line_search_fn": "strong_wolfe", "lr": 10, "max_iter": 2}, {"line_search_fn": "strong_wolfe", "max_eval": 9},
    {"lr": 0.5, "max_iter": 4, "maximize": True}, {"line_search_fn": "strong_wolfe", "max_iter": 4, "maximize": True},
)  # fmt: skip


def valley(settings):
    p = torch.tensor([1.2, -0.7], requires_grad=True, dtype=torch.float64)
    q = torch.tensor([[0.3]], requires_grad=True, dtype=torch.float64)
    optimizer = torch.optim.LBFGS([p, q], **settings)
    calls = 0

    def closure():
        nonlocal calls
        calls += 1
        optimizer.zero_grad()
        loss = (1 - p[0]) ** 2 + 20 * (p[1] - p[0] ** 2) ** 2 + (q * p.sum() - 1).square().sum()
        loss = -loss if settings.get("maximize") else loss
        loss.backward()
        return loss

    for _ in range(6):
        yield optimizer.step(closure).item(), p.tolist(), q.tolist(), calls
    yield optimizer.state[p]["n_iter"], optimizer.state[p]["func_evals"], len(optimizer.state[p]["old_stps"])


def sentence(make):
    try:
        make()
    except (ValueError, RuntimeError) as error:
        return str(error)


def walk():
    for settings in SETTINGS:
        for values in valley(settings):
            yield str(settings), values
    groups = [{"params": [torch.zeros(1)]}, {"params": [torch.zeros(1)]}]
    yield "groups", sentence(lambda: torch.optim.LBFGS(groups))
    yield "learning rate", sentence(lambda: torch.optim.LBFGS([torch.zeros(1)], lr=-1))
    p = torch.ones(1, requires_grad=True)
    p.grad = torch.ones(1)
    yield "search", sentence(lambda: torch.optim.LBFGS([p], line_search_fn="x").step(lambda: p.sum()))


check(list(walk()), __file__)
