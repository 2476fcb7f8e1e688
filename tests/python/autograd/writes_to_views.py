# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
# run: --torch TERRA_EXACT=1
"""Writes to views that the tape refuses, and gradients of a base that was written through views of another layout."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

results = []


def computed():
    return torch.ones(3, 2, requires_grad=True) * 1.0


def without_grad(take):
    def views(w):
        with torch.no_grad():
            return take(w)

    return views


VIEWS = {
    "unbind": lambda w: w.unbind(),
    "split": lambda w: w.split(1),
    "split sizes": lambda w: w.split([1, 2]),
    "chunk": lambda w: w.chunk(3),
    "rows": lambda w: list(w),
    "tensor_split": lambda w: w.tensor_split(3),
    "select": lambda w: [w[0]],
    "a view of one of many": lambda w: [w.unbind()[1][:1]],
    "made without grad": without_grad(lambda w: [w[0]]),
    "many made without grad": without_grad(lambda w: w.unbind()),
    "detached": lambda w: [w.unbind()[0].detach()],
}
WRITES = {
    "add_": lambda v: v.add_(1),
    "setitem": lambda v: v.__setitem__(0, 5.0),
    "mul_ by what requires grad": lambda v: v.mul_(torch.full((), 2.0, requires_grad=True)),
}


def write(base, take, change, number):
    views = take(base)
    change(views[number])
    return base


def outcome(function, *args):
    try:
        return function(*args).tolist()
    except RuntimeError as error:
        return f"RuntimeError {error}"


for name, take in VIEWS.items():
    for what, change in WRITES.items():
        for kind, make in (("computed", computed), ("leaf", lambda: torch.ones(3, 2, requires_grad=True)), ("plain", lambda: torch.ones(3, 2))):
            for number in (0, -1):
                found = [outcome(write, make(), take, change, number) for _ in range(8)]
                assert all(f == found[0] for f in found), (name, what, kind, found)
            results.append((f"{name}, {what}, {kind}", found[0]))


def without_recording(take):
    w = computed()
    views = take(w)
    with torch.no_grad():
        views[0].add_(1)
    return w


for name, take in VIEWS.items():
    results.append((f"{name}, written without grad", [outcome(without_recording, take) for _ in range(8)][7]))


def returned(x, many):
    """Whose caller writes."""
    y = x * 2
    return (y.unbind() if many else (y[0], y[1])), y


for many in (False, True):
    for _ in range(8):
        views, y = returned(torch.ones(3, 2, requires_grad=True), many)
        found = outcome(lambda views=views: views[1].add_(1))
    results.append((f"returned, many: {many}", found))
    results.append(("numbers and names", [(v.output_nr, v.grad_fn.name()) for v in views if many]))



def add(v):
    """Captured for what may be written, and called with what may not."""
    return v.add_(1)


def kinds_of_views():
    w, plain = torch.ones(3, 2, requires_grad=True), torch.ones(3, 2)
    row = plain[0]
    c = w * 1
    with torch.no_grad():
        of_leaf, of_computed = w[0], c[0]
    yield "of a leaf, without grad", of_leaf
    yield "of what was computed, without grad", of_computed
    yield "one of many", (w * 1).unbind()[1]
    yield "computed", (w * 1)[1]
    plain.requires_grad_()
    yield "of what is a leaf by now", row
    yield "plain", torch.ones(3, 2)[0]


for _ in range(40):
    add(torch.ones(3, 2)[0])
for times in range(3):
    for name, view in kinds_of_views():
        results.append((f"captured before, {name}", outcome(add, view)))
    for _ in range(20):
        add((torch.ones(3, 2, requires_grad=True) * 1)[0])

LAYOUTS = {
    "by rows": lambda b: b,
    "by columns": lambda b: b.transpose(0, 2).contiguous().transpose(0, 2) * 1,
    "permuted": lambda b: b.permute(1, 2, 0) * 1,
}
STEPS = {
    "view": lambda b: b.view(-1),
    "flatten": lambda b: b.flatten(),
    "transposed": lambda b: b.transpose(0, 1),
    "part": lambda b: b[1:, 2],
}


def written(a, lay, take, w):
    base = lay(a * 1.0)
    view = take(base)
    view[::2] += w
    view[1:3].mul_(2.0)
    out = base.permute(2, 0, 1)  # its gradient lies otherwise than the base
    return (out * wave(*out.shape).to(a.dtype)).sum()


for lay_name, lay in LAYOUTS.items():
    for step_name, take in STEPS.items():
        for i in range(8):
            a = (wave(4, 6, 3).float() + i).requires_grad_()
            try:
                written(a, lay, take, torch.tensor(0.5)).backward()
                found = a.grad
            except RuntimeError as error:
                found = type(error).__name__
        results.append((f"{lay_name}, {step_name}", found))

check(results, __file__)
