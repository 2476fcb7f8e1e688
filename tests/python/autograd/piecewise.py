# run: --torch
"""Gradients of functions that are linear between kinks count as functions of their operand: with create_graph they require
grad, and their own gradient is 0, as in PyTorch. Without create_graph they don't."""

import pathlib
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

FUNCTIONS = {
    "leaky_relu": F.leaky_relu,
    "hardtanh": F.hardtanh,
    "relu6": F.relu6,
    "hardshrink": F.hardshrink,
    "softshrink": F.softshrink,
    "threshold": lambda x: F.threshold(x, 0.1, 2.0),
    "rrelu": lambda x: F.rrelu(x, 0.2, 0.3, training=True).sign() * F.rrelu(x, 0.2, 0.2, training=True),
    "prelu": lambda x: F.prelu(x, torch.tensor([0.3], dtype=torch.float64)),
    "max_pool1d": lambda x: F.max_pool1d(x, 2),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "max_pool3d": lambda x: F.max_pool3d(x.unsqueeze(0), (1, 2, 2)),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "avg_pool3d": lambda x: F.avg_pool3d(x.unsqueeze(0), (1, 2, 2)),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 2),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, 2),
    "reflected": lambda x: F.pad(x, (1, 1), "reflect"),
    "replicated": lambda x: F.pad(x, (1, 1), "replicate"),
    "around": lambda x: F.pad(x, (1, 1), "circular"),
    "relu": F.relu,
    "scaled": lambda x: x * 2,
}


def cases():
    for name, function in FUNCTIONS.items():
        x = wave(2, 4, 4).requires_grad_()
        torch.manual_seed(1)
        loss = (function(x) * 1.5).sum()
        (plain,) = torch.autograd.grad(loss, x, retain_graph=True)
        (kept,) = torch.autograd.grad(loss, x, create_graph=True)
        second = None
        if kept.requires_grad:
            (second,) = torch.autograd.grad(kept.sum(), x, allow_unused=True)
        zeros = second is not None and not second.any()
        yield name, (kept, plain.requires_grad, kept.requires_grad, zeros)


check(list(cases()), __file__)
# Called often enough to be captured, and with weights behind it: a penalty on the gradient.
w = torch.ones(3, dtype=torch.float64, requires_grad=True)


def penalty(x):
    x = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(F.leaky_relu(x * w).sum(), x, create_graph=True)
    return slope.pow(2).sum()


for _ in range(12):
    w.grad = None
    penalty(torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64)).backward()
    torch.testing.assert_close(w.grad, torch.tensor([2.0, 0.0002, 2.0], dtype=torch.float64))
