# run: --torch
# run: --torch --capture=stress
"""Muon and Adafactor: parameters after some steps, states and mistakes, as PyTorch's."""

import pathlib
import sys

import torch
from torch.optim import Adafactor, Muon

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

RUNS = (
    (Muon, {}), (Muon, {"lr": 0.05, "adjust_lr_fn": "match_rms_adamw", "nesterov": False}),
    (Muon, {"lr": 0.1, "adjust_lr_fn": "spectral_unclamped", "weight_decay": 0.0, "ns_steps": 3}), (Adafactor, {}),
    (Adafactor, {"lr": 0.1, "weight_decay": 0.1, "d": 2.0, "eps": (1e-6, 1e-2)}), (Adafactor, {"maximize": True}),
)  # fmt: skip
WRONG = (
    (Muon, {"lr": -1.0}), (Muon, {"momentum": -1.0}), (Muon, {"weight_decay": -1.0}), (Muon, {"adjust_lr_fn": "x"}),
    (Adafactor, {"lr": -1.0}), (Adafactor, {"beta2_decay": 1.0}), (Adafactor, {"d": 0.5}), (Adafactor, {"eps": (-1.0, 1.0)}),
    (Adafactor, {"weight_decay": -1.0}),
)  # fmt: skip


def trained(kind, options):
    w = torch.nn.Parameter(torch.arange(12.0).reshape(3, 4) / 10 - 0.3)
    b = torch.nn.Parameter(torch.arange(3.0) / 5)
    parameters = [w] if kind is Muon else [w, b]
    optimizer = kind(parameters, **options)
    x = torch.sin(torch.arange(20.0)).reshape(5, 4)
    for _ in range(8):
        optimizer.zero_grad()
        ((x @ w.T + b).tanh() - 0.5).pow(2).sum().backward()
        optimizer.step()
    # products in bfloat16 are rounded a little differently: two digits
    digits = 2 if kind is Muon else 4
    return [round(v, digits) for p in parameters for v in p.flatten().tolist()], sorted(optimizer.state[w])


def walk():
    for kind, options in RUNS:
        yield f"{kind.__name__} {options}", trained(kind, options)
    for kind, options in WRONG:
        try:
            yield f"{kind.__name__} {options}", kind([torch.nn.Parameter(torch.ones(2, 2))], **options)
        except ValueError as error:
            yield f"{kind.__name__} {options}", error
    try:
        Muon([torch.nn.Parameter(torch.ones(2))])
    except ValueError as error:
        yield "vector", error


check(walk(), __file__)
