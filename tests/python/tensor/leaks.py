"""A hundred thousand calls of each kind leave the process as large as it was."""
import resource

import terra

a, b = terra.ones(64), terra.ones(64)
w = terra.ones(8, 8, requires_grad=True)


def grad_step():
    (w @ w).sum().backward()
    w.grad = None


def wrong():
    try:
        a + terra.ones(3)
    except RuntimeError:
        pass
    try:
        terra.relu("x")
    except TypeError:
        pass


calls = {
    "operator": lambda: a + b, "number": lambda: a * 2.5, "method": lambda: a.add(b, alpha=2), "function": lambda: terra.relu(a),
    "index": lambda: a[3], "assign": lambda: a.__setitem__(slice(0, 4), 1.0), "view": lambda: a.view(8, 8).t(), "item": lambda: a[0].item(),
    "list": lambda: a.tolist(), "shape": lambda: a.shape, "new": lambda: terra.tensor([1.0, 2.0, 3.0]), "error": wrong, "attribute": lambda: setattr(a + b, "x", 1),
}  # fmt: skip


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


for name, call in calls.items():
    for _ in range(2000):
        call()
    before = peak()
    for _ in range(100_000 if name not in ("error", "list") else 20_000):
        call()
    assert peak() - before < 2000, (name, peak() - before)
for _ in range(500):
    grad_step()
before = peak()
for _ in range(20_000):
    grad_step()
assert peak() - before < 2000, ("gradients", peak() - before)
