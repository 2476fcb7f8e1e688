# run: --torch
# run: --torch --capture=off
"""A leaf that a factory writes into requires grad afterwards only where the call asks for that."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

FACTORIES = {
    "arange": lambda **o: torch.arange(1, 5, **o),
    "linspace": lambda **o: torch.linspace(0, 1, 4, **o),
    "zeros": lambda **o: torch.zeros(4, **o),
    "full": lambda **o: torch.full((4,), 2.0, **o),
    "eye": lambda **o: torch.eye(2, **o),
    "rand": lambda **o: torch.rand(4, **o).ge(0),
}
items = []
for name, make in FACTORIES.items():

    def into(**options):
        p = torch.nn.Parameter(torch.ones(2, 2) if name == "eye" else torch.ones(4))
        with torch.no_grad():
            r = make(out=p, **options)
        return [r, r is p or name == "rand", p.requires_grad]

    items.append((name, into()))
    items.append((name + ", wants gradients", into(requires_grad=True)))

check(items, __file__)
