# run: --torch
# run: --torch --capture=off
# run: --torch --capture=coexec TERRA_RUNNER=turns
# run: --torch --capture=verify
# run: --torch --capture=stress
"""Views made in no_grad mode: they require grad if their bases do, and no gradient reaches them."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes, wave  # noqa: E402

results = []


def state(t):
    return [t.requires_grad, t.is_leaf, type(t.grad_fn).__name__, t._is_view()]


@torch.no_grad()
def views(x):
    return [x.view(-1), x[1:], x.t(), x.expand(2, *x.shape), x.unbind(0)[0], x.chunk(2)[1], x.reshape(-1), x[None]]


leaf = wave(2, 3).clone().requires_grad_()
results.append(("of a leaf", [state(v) for v in views(leaf)]))
results.append(("of what was computed", [state(v) for v in views(leaf * 1)]))
results.append(("of what needs none", [state(v) for v in views(wave(2, 3).clone())]))
with torch.no_grad():
    v = leaf.view(6)
    none = v.detach()
    copy = leaf + 0
late = wave(3).clone()
with torch.no_grad():
    late_view = late.view(3)
late.requires_grad_()
expressions = """
state(v) | [none.requires_grad, none.is_leaf] | state(copy) | state(late_view) | state(v[1:]) | state(v * 2) | v.numpy()
torch.autograd.grad((v * 2).sum(), v) | torch.autograd.grad((v * 2).sum(), v, allow_unused=True)
v.sum().backward() | v.grad | leaf.grad | v.backward(torch.ones(6)) | v.mul_(2) | v.requires_grad_(False).requires_grad
torch.autograd.grad([leaf.sum(), v], [leaf], [None, torch.ones(6)])
"""
results += outcomes(expressions, globals())


def written(change):
    x = wave(3).clone().requires_grad_()
    with torch.no_grad():
        view = x.view(3)
        change(x, view)
    return view  # noqa: F841


for name, change in {"base": lambda x, view: x.mul_(2), "view": lambda x, view: view.mul_(2)}.items():
    view = written(change)
    names = {"view": view, "torch": torch}
    for text, value in outcomes("view.requires_grad | view.grad_fn | view * 2 | view.is_leaf", names):
        results.append((f"{name} written, {text}", value))


def step(x, w):
    with torch.no_grad():
        flat = w.view(-1)
    y = (flat[:3] * x).sum() + (w * x).sum()
    y.backward()
    return [flat.requires_grad, flat.is_leaf, flat.grad is None, y.requires_grad]


def use(flat, x):
    y = flat * x
    return [y.requires_grad, (y.sum() + x.sum()).item(), flat.requires_grad, flat.is_leaf]


w = wave(2, 3).clone().requires_grad_()
with torch.no_grad():
    flat = w.view(-1)
own = wave(6).clone().requires_grad_()
for k in range(15):
    last = step(wave(3) + k, w)
    used = [use(t, wave(6) * k) for t in (flat, own, flat)]
    sums = (flat * own).sum()
    sums.backward()
results.append(("steps", [last, used, w.grad, flat.grad is None, own.grad]))
check(results, pathlib.Path(__file__).with_suffix(".txt"))
