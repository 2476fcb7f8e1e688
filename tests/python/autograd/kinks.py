# run: --torch
# run: --torch --capture=stress
"""First and second derivatives where formulas have kinks: at 0, at -0, and at the ends of their pieces."""

import pathlib
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

third = torch.tensor([0.3, 0.3])
weight = torch.tensor([2.0, 2.0])
FUNCTIONS = {
    "bce_with_logits": lambda a: F.binary_cross_entropy_with_logits(a, third),
    "bce_with_logits, weighted": lambda a: F.binary_cross_entropy_with_logits(a, third, pos_weight=weight),
    "softplus": lambda a: F.softplus(a).sum(),
    "logsigmoid": lambda a: F.logsigmoid(a).sum(),
    "silu": lambda a: F.silu(a).sum(),
    "gelu": lambda a: F.gelu(a).sum(),
    "gelu, tanh": lambda a: F.gelu(a, approximate="tanh").sum(),
    "elu": lambda a: F.elu(a).sum(),
    "elu, alpha": lambda a: F.elu(a, 0.5).sum(),
    "selu": lambda a: F.selu(a).sum(),
    "celu": lambda a: F.celu(a, 2.0).sum(),
    "mish": lambda a: F.mish(a).sum(),
    "tanh": lambda a: a.tanh().sum(),
    "softsign": lambda a: F.softsign(a).sum(),
    "huber": lambda a: F.huber_loss(a, torch.zeros(2)),
    "huber, delta": lambda a: F.huber_loss(a, torch.zeros(2), delta=0.5),
    "smooth_l1": lambda a: F.smooth_l1_loss(a, torch.zeros(2)),
    "smooth_l1, beta": lambda a: F.smooth_l1_loss(a, torch.zeros(2), beta=0.5),
    "soft_margin": lambda a: F.soft_margin_loss(a, torch.ones(2)),
    "multilabel_soft_margin": lambda a: F.multilabel_soft_margin_loss(a[None], torch.ones(1, 2)),
    "logsumexp": lambda a: a.logsumexp(0),
    "logaddexp": lambda a: torch.logaddexp(a, torch.zeros(2)).sum(),
    "logaddexp2": lambda a: torch.logaddexp2(a, torch.zeros(2)).sum(),
    "cumprod": lambda a: (torch.cat([a, a + 1]).cumprod(0) * torch.arange(1.0, 5.0)).sum(),
    "hardswish": lambda a: F.hardswish(a).sum(),
    "abs": lambda a: a.abs().sum(),
    "relu": lambda a: F.relu(a).sum(),
    "leaky_relu": lambda a: F.leaky_relu(a).sum(),
    "norm 1": lambda a: a.norm(1),
    "clamp": lambda a: a.clamp(min=0).sum(),
    "maximum": lambda a: torch.maximum(a, torch.zeros(2)).sum(),
    "square": lambda a: (a**2).sum(),
    "cube": lambda a: (a**3).sum(),
    "prod": lambda a: a.prod(),
    "atan2": lambda a: torch.atan2(a, torch.ones(2)).sum(),
    "xlogy": lambda a: torch.xlogy(a, torch.ones(2)).sum(),
}


def derivatives(function, values):
    a = torch.tensor(values, requires_grad=True)
    (first,) = torch.autograd.grad(function(a), a, create_graph=True)
    first = first + 0.0  # of -0
    if not first.requires_grad:
        return first, None
    (second,) = torch.autograd.grad((first * torch.tensor([1.0, 2.0])).sum(), a, allow_unused=True)
    return first, second if second is None else second + 0.0


results = []
for name, function in FUNCTIONS.items():
    for values in ([0.0, 0.5], [-0.0, 0.0], [1.0, -1.0]):
        for _ in range(3):
            found = derivatives(function, values)
        results.append((f"{name} at {values}", found))
check(results, __file__)
