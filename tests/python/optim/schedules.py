# run: --torch
"""Learning rates of every scheduler over thirty epochs, as PyTorch's."""

import pathlib
import random
import sys
import warnings

import torch
from torch.optim import lr_scheduler as S

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")

SCHEDULES = (
    (S.StepLR, (3,), {}), (S.MultiStepLR, ([2, 5, 5],), {}), (S.ExponentialLR, (0.9,), {}),
    (S.LambdaLR, (lambda epoch: 1 / (epoch + 1),), {}), (S.MultiplicativeLR, (lambda epoch: 0.95,), {}),
    (S.CosineAnnealingLR, (5,), {"eta_min": 0.001}), (S.CosineAnnealingWarmRestarts, (3,), {"T_mult": 2}),
    (S.LinearLR, (), {}), (S.ConstantLR, (), {}), (S.OneCycleLR, (0.5, 31), {}),
    (S.OneCycleLR, (0.5, 31), {"three_phase": True, "anneal_strategy": "linear"}),
)  # fmt: skip


def optimizer():
    return torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1, momentum=0.9)


def walk():
    for kind, args, kwargs in SCHEDULES:
        opt = optimizer()
        schedule = kind(opt, *args, **kwargs)
        rates, momenta = [], []
        for _ in range(30):
            opt.step()
            schedule.step()
            rates.append(schedule.get_last_lr()[0])
            momenta.append(opt.param_groups[0]["momentum"])
        yield f"{kind.__name__} {kwargs}", rates
        yield "  momentum", momenta
    opt = optimizer()
    both = S.SequentialLR(opt, [S.LinearLR(opt, total_iters=4), S.ExponentialLR(opt, 0.8)], [5])
    rates = []
    for _ in range(12):
        opt.step()
        both.step()
        rates.append(both.get_last_lr()[0])
    yield "SequentialLR", rates
    for mode in ("min", "max"):
        for threshold_mode in ("rel", "abs"):
            opt = optimizer()
            plateau = S.ReduceLROnPlateau(opt, mode, patience=2, threshold=0.1, threshold_mode=threshold_mode, cooldown=1)
            random.seed(1)
            rates = []
            for _ in range(40):
                plateau.step(random.random())
                rates.append(opt.param_groups[0]["lr"])
            yield f"plateau {mode} {threshold_mode}", rates


check(list(walk()), __file__)
