# run: --torch
"""SobolEngine: the points of PyTorch's, scrambled or not, one after the other or some left out."""

import pathlib
import sys

import torch
from torch.quasirandom import SobolEngine

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

items = []
for dimension in (1, 2, 3, 7, 40, 300, 1111):
    engine = SobolEngine(dimension)
    items.append((f"plain {dimension}", [engine.draw(8)[:, -3:], engine.draw(5)[:, :3], engine.num_generated]))
    engine = SobolEngine(dimension, scramble=True, seed=11)
    first = engine.draw(9)
    items.append((f"scrambled {dimension}", [first[:, -3:], engine.draw(1)[:, :3], engine.quasi[:3].clone(), engine.shift[:2]]))
    engine.reset()
    items.append((f"again {dimension}", torch.equal(engine.draw(9), first)))
    engine.reset()
    items.append((f"ahead {dimension}", [engine.fast_forward(4).draw(2)[:, :2], engine.num_generated]))
torch.manual_seed(4)
items.append(("drawn seed", [SobolEngine(2, True).draw(3, dtype=torch.float64), torch.rand(1)]))
items.append(("shown", [SobolEngine(3), SobolEngine(3, True), SobolEngine(3, True, 5)]))
engine = SobolEngine(2)
items.append(("one by one", [engine.draw(), engine.draw(1), engine.draw_base2(1), engine.sobolstate[:, :3], engine.MAXBIT]))
out = torch.empty(3, 2)
items.append(("out", [SobolEngine(2).draw(3, out=out) is out, out]))
engine = SobolEngine(2, True, 1)
items.append(("twice ahead", [engine.fast_forward(3).fast_forward(2).draw(2), engine.fast_forward(5).draw(1)]))
items.append(("many", [SobolEngine(2).draw(2000).mean(0), SobolEngine(5, True, 3).draw(2048, dtype=torch.float64).var(0)]))
for name, wrong in (("not a power", lambda: engine.draw_base2(3)), ("none", lambda: SobolEngine(0)), ("too many", lambda: SobolEngine(21202))):
    try:
        wrong()
    except ValueError as error:
        items.append((name, error))
check(items, __file__)
