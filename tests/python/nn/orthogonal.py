# run: --torch
"""Orthogonal weights by each map, with and without a base: learnt, assigned, saved and refused as PyTorch does."""

import pathlib
import sys

import torch
import torch.nn as nn
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import orthogonal

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

D = torch.float64
items = []


def learn(layer, rows, columns):
    """Five steps towards nothing."""
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    batch = torch.arange(2.0 * columns, dtype=D).reshape(2, -1).sin()

    def step():
        optimizer.zero_grad()
        loss = (layer(batch) ** 2 * torch.arange(1.0, rows + 1, dtype=D)).sum()
        loss.backward()
        optimizer.step()
        return loss.item()

    return [step() for _ in range(5)]


def case(name, rows, columns, **options):
    torch.manual_seed(0)
    layer = nn.Linear(columns, rows, dtype=D)
    orthogonal(layer, **options)
    items.append((f"{name} weight", layer.weight))
    items.append((f"{name} state", {key: list(value.shape) for key, value in layer.state_dict().items()}))
    items.append((f"{name} original", layer.state_dict()["parametrizations.weight.original"]))
    items.append((f"{name} learns", learn(layer, rows, columns)))
    square = layer.weight @ layer.weight.mT if rows <= columns else layer.weight.mT @ layer.weight
    assert torch.allclose(square, torch.eye(min(rows, columns), dtype=D), atol=1e-10), (name, square)
    torch.manual_seed(3)
    wanted = nn.init.orthogonal_(torch.empty(rows, columns, dtype=D))
    try:
        layer.weight = wanted
        assert torch.allclose(layer.weight, wanted, atol=1e-10), name
        items.append((f"{name} assigned", layer.weight))
    except NotImplementedError as error:
        items.append((f"{name} assigned", str(error)))
    items.append((f"{name} shown", repr(layer)))
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and isinstance(layer.weight, nn.Parameter)


for orthogonal_map in ("matrix_exp", "cayley", "householder", None):
    for rows, columns in ((4, 4), (5, 3), (3, 5)):
        for base in (True, False):
            if base or orthogonal_map == "householder":
                options = {"orthogonal_map": orthogonal_map, "use_trivialization": base}
                case(f"{orthogonal_map} {rows} x {columns} {base}", rows, columns, **options)
WRONG = {
    "a vector": lambda: orthogonal(nn.BatchNorm1d(3)), "no such name": lambda: orthogonal(nn.Linear(2, 2), "other"),
    "no such map": lambda: orthogonal(nn.Linear(2, 2), orthogonal_map="qr"),
    "a start": lambda: orthogonal(nn.Linear(2, 2), orthogonal_map="cayley", use_trivialization=False),
}  # fmt: skip
for name, function in WRONG.items():
    try:
        function()
        items.append((name, "nothing is raised"))
    except Exception as error:
        items.append((name, f"{type(error).__name__}: {error}"))
check(items, __file__)
