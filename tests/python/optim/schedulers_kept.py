# run: --torch
"""What schedulers write down, in order, and where they go on from it; schedulers of one's own; groups added later."""

import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")
S = torch.optim.lr_scheduler
results = []


class Falling:
    """A callable with a state."""

    def __init__(self):
        self.rate = 0.9

    def __call__(self, epoch):
        return self.rate**epoch


class Own(S.LRScheduler):
    def __init__(self, optimizer, rate):
        self.rate = rate
        super().__init__(optimizer)

    def get_lr(self):
        assert self._get_lr_called_within_step
        return [base * self.rate**self.last_epoch for base in self.base_lrs]


MAKERS = {
    "LambdaLR": lambda o: S.LambdaLR(o, lambda e: 0.9**e),
    "LambdaLR of an object": lambda o: S.LambdaLR(o, [Falling()]),
    "MultiplicativeLR": lambda o: S.MultiplicativeLR(o, lambda e: 0.95),
    "StepLR": lambda o: S.StepLR(o, 2),
    "MultiStepLR": lambda o: S.MultiStepLR(o, [1, 3]),
    "ConstantLR": lambda o: S.ConstantLR(o),
    "LinearLR": lambda o: S.LinearLR(o),
    "ExponentialLR": lambda o: S.ExponentialLR(o, 0.9),
    "CosineAnnealingLR": lambda o: S.CosineAnnealingLR(o, 5),
    "CosineAnnealingWarmRestarts": lambda o: S.CosineAnnealingWarmRestarts(o, 3),
    "ChainedScheduler": lambda o: S.ChainedScheduler([S.ExponentialLR(o, 0.9), S.StepLR(o, 2)]),
    "SequentialLR": lambda o: S.SequentialLR(o, [S.ExponentialLR(o, 0.9), S.StepLR(o, 2)], [2]),
    "ReduceLROnPlateau": lambda o: S.ReduceLROnPlateau(o),
    "CyclicLR": lambda o: S.CyclicLR(o, 0.1, 0.2),
    "CyclicLR, scaled": lambda o: S.CyclicLR(o, 0.1, 0.2, scale_fn=Falling()),
    "OneCycleLR": lambda o: S.OneCycleLR(o, 0.1, total_steps=5),
    "OneCycleLR, three phases": lambda o: S.OneCycleLR(o, 0.1, total_steps=9, three_phase=True, anneal_strategy="linear"),
    "PolynomialLR": lambda o: S.PolynomialLR(o),
    "own": lambda o: Own(o, 0.5),
}


def optimizer():
    return torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1, momentum=0.9)


def step(o, s):
    o.step()
    s.step(*([1.0] if isinstance(s, S.ReduceLROnPlateau) else []))


for name, make in MAKERS.items():
    o = optimizer()
    s = make(o)
    step(o, s)
    state = s.state_dict()
    results.append((name, list(state.items())))
    o = optimizer()
    s = make(o)
    s.load_state_dict(state)
    for _ in range(2):
        step(o, s)
    results.append(("goes on", [s.get_last_lr(), o.param_groups[0]["momentum"], sorted(o.param_groups[0])]))
    results.append(("is a scheduler", [isinstance(s, S.LRScheduler)]))


def too_often():
    s = S.OneCycleLR(optimizer(), 0.1, total_steps=2)
    for _ in range(3):
        s.step()


try:
    too_often()
except ValueError as error:
    results.append(("too often", str(error)))

groups = torch.optim.SGD([{"params": [torch.ones(1)]}, {"params": [torch.ones(2)], "lr": 0.5}], lr=0.1)
results.append(("two groups", repr(groups)))
first, later = torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.ones(2))
o = torch.optim.Adagrad([first], lr=0.1, initial_accumulator_value=0.1)
o.add_param_group({"params": [later], "initial_accumulator_value": 0.2})
for _ in range(3):
    first.grad, later.grad = torch.ones(1), torch.ones(2)
    o.step()
results.append(("a group added", [first, later, sorted(o.state[later]), o.state[later]["sum"]]))
check(results, __file__)
