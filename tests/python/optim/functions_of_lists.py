# run: --torch
# run: --torch --capture=off
"""Optimizers as functions of lists: of parameters, gradients and what is kept of them, which they change."""

import pathlib
import sys

import torch
from torch.optim import _functional
from torch.optim.adadelta import adadelta
from torch.optim.adagrad import adagrad
from torch.optim.adam import adam
from torch.optim.adamax import adamax
from torch.optim.adamw import adamw
from torch.optim.asgd import asgd
from torch.optim.nadam import nadam
from torch.optim.radam import radam
from torch.optim.rmsprop import rmsprop
from torch.optim.rprop import rprop
from torch.optim.sgd import sgd

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

results = []
FORMS = (
    (sgd, ["none"], False, dict(weight_decay=0.1, momentum=0.9, lr=0.1, dampening=0.1, nesterov=False, maximize=False)),
    (adam, ["zeros", "zeros", "empty"], True, dict(amsgrad=False, beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.01, eps=1e-8, maximize=True)),
    (adamw, ["zeros", "zeros", "zeros"], True, dict(amsgrad=True, beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.01, eps=1e-8, maximize=False)),
    (rmsprop, ["zeros", "zeros", "zeros"], True, dict(lr=0.1, alpha=0.9, eps=1e-8, weight_decay=0.1, momentum=0.5, centered=True)),
    (rmsprop, ["zeros", "empty", "empty"], True, dict(lr=0.1, alpha=0.9, eps=1e-8, weight_decay=0, momentum=0, centered=False)),
    (adagrad, ["zeros"], True, dict(lr=0.1, weight_decay=0.1, lr_decay=0.1, eps=1e-10, maximize=False)),
    (adadelta, ["zeros", "zeros"], True, dict(lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.1, maximize=True)),
    (adamax, ["zeros", "zeros"], True, dict(eps=1e-8, beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.1)),
    (nadam, ["zeros", "zeros", "ones"], True, dict(beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.1, momentum_decay=4e-3, eps=1e-8)),
    (radam, ["zeros", "zeros"], True, dict(beta1=0.9, beta2=0.99, lr=0.1, weight_decay=0.1, eps=1e-8)),
    (rprop, ["zeros", "tenths"], True, dict(step_size_min=1e-6, step_size_max=50, etaminus=0.5, etaplus=1.2)),
    (asgd, ["zeros", "ones", "one_tenth"], True, dict(lambd=1e-4, lr=0.1, t0=1.0, alpha=0.75, weight_decay=0.1)),
)
MADE = {
    "zeros": torch.zeros_like, "tenths": lambda p: torch.full_like(p, 0.1), "ones": lambda p: torch.tensor(1.0),
    "one_tenth": lambda p: torch.tensor(0.1), "none": lambda p: None,
}  # fmt: skip
for function, kinds, counts, options in FORMS:
    params = [wave(3).float(), wave(2, 2).float() * 2]
    lists = [[] if kind == "empty" else [MADE[kind](p) for p in params] for kind in kinds]
    steps = [[torch.tensor(0.0) for _ in params]] if counts else []
    for i in range(4):
        with torch.no_grad():
            function(params, [torch.sin(p * (i + 1)) for p in params], *lists, *steps, **options)
    results.append((function.__name__, [params, lists, steps]))
param = wave(4, 2).float()
gradient = torch.sparse_coo_tensor(torch.tensor([[0, 2]]), wave(2, 2).float(), (4, 2)).coalesce()
averages, squares = [torch.zeros(4, 2)], [torch.zeros(4, 2)]
for step in (1, 2):
    _functional.sparse_adam([param], [gradient], averages, squares, [step], eps=1e-8, beta1=0.9, beta2=0.99, lr=0.1, maximize=False)
results.append(("sparse", [param, averages, squares]))

check(results, __file__)
