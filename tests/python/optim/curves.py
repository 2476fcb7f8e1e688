# run: --torch
# run: --torch --capture=off
"""Loss curves of small nets, step by step, with every optimizer, as PyTorch's: same seeds, same initial values, same
order of examples, same dropout."""

import pathlib
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")

OPTIMIZERS = (
    ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.3}), ("Adam", {}), ("Adam", {"weight_decay": 0.1, "amsgrad": True}),
    ("AdamW", {"lr": 0.01}), ("Adagrad", {"lr_decay": 0.1}), ("Adadelta", {}), ("RMSprop", {"momentum": 0.5, "centered": True}),
    ("Adamax", {"weight_decay": 0.1}), ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}), ("RAdam", {"lr": 0.05}),
    ("NAdam", {"weight_decay": 0.1}), ("Rprop", {}), ("ASGD", {"lr": 0.05, "t0": 3, "weight_decay": 0.01}),
)  # fmt: skip


def mlp():
    return nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Dropout(0.2), nn.Linear(12, 3))


def convolutional():
    return nn.Sequential(
        nn.Unflatten(1, (1, 2, 3)), nn.Conv2d(1, 4, 2, padding=1), nn.Tanh(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 3)
    )


def curve(build, name, options):
    torch.manual_seed(11)
    x = torch.randn(40, 6)
    y = (x.sum(1) > 0).long() + (x[:, 0] > 0.7).long()
    model = build()
    opt = getattr(torch.optim, name)(model.parameters(), **options)
    losses = []
    for _ in range(2):
        for inputs, labels in DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True):
            opt.zero_grad()
            loss = F.cross_entropy(model(inputs), labels)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            opt.step()
            losses.append(loss.item())
    return losses, opt


def walk():
    for name, options in OPTIMIZERS:
        for build in (mlp, convolutional):
            losses, opt = curve(build, name, options)
            yield f"{name} {options} {build.__name__}", losses
        yield "  prints", repr(opt)
        state = opt.state_dict()
        yield "  state", [f"{k}: {sorted(map(str, v))}" for k, v in state["state"].items()]
        yield "  sums", [
            float(v.double().sum()) for entry in state["state"].values() for v in entry.values() if isinstance(v, torch.Tensor)
        ]


check(list(walk()), __file__)
