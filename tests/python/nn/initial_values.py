# run: --torch
"""nn.init: the same numbers from the same seeds as PyTorch."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

SHAPES = ((6, 4), (3, 5), (4, 2, 3))
FUNCTIONS = (
    ("uniform_", {"a": -1.0, "b": 2.0}), ("normal_", {"mean": 1.0, "std": 0.5}), ("xavier_uniform_", {"gain": 2.0}),
    ("xavier_normal_", {}), ("kaiming_uniform_", {"nonlinearity": "relu"}), ("kaiming_normal_", {"mode": "fan_out"}),
    ("orthogonal_", {}), ("trunc_normal_", {"std": 0.8}), ("constant_", {"val": 0.3}), ("ones_", {}),
)  # fmt: skip


def walk():
    for name, kwargs in FUNCTIONS:
        for shape in SHAPES:
            torch.manual_seed(5)
            yield f"{name} {shape}", getattr(nn.init, name)(torch.empty(shape), **kwargs)
    for name in ("sigmoid", "tanh", "relu", "leaky_relu", "selu", "linear", "conv2d"):
        yield f"gain {name}", nn.init.calculate_gain(name)
    torch.manual_seed(5)
    yield "sparse_", nn.init.sparse_(torch.empty(6, 2), 0.5)
    yield "eye_", nn.init.eye_(torch.empty(3, 2))
    yield "dirac_", nn.init.dirac_(torch.empty(4, 2, 3), groups=2)


check(list(walk()), __file__)
