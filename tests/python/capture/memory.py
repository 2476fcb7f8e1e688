# run: TERRA_EXACT=1
# timeout: 300
"""Calls of captured functions leave nothing behind: memory, objects and reference counts are flat over many calls of
every kind of entry, and functions that die take their entries with them."""
import gc
import os
import resource
import sys
import weakref

import terra
import _terra_C as C

CALLS = 20_000
X = terra.arange(6.0).reshape(2, 3)
W = terra.ones(3, requires_grad=True)


class Thing:
    count = 0


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def hit():
    def f(x):
        return x * 2
    return f, lambda i: f(X), 1


def several_entries():
    def f(x, y):
        return x * 2 if y is None else x + y
    return f, lambda i: f(X, (None, X)[i % 2]), 1


def number_that_changes():
    def f(x, k):
        return x * k
    return f, lambda i: f(X, float(i)), 1


def miss():
    def f(x, k):
        return x * len(k)
    return f, lambda i: f(X, "a" * (i % 37)), 0


def effects():
    thing, items, table = Thing(), [], {}

    def f(x):
        thing.count += 1
        thing.last = x + 1
        items.append(x * 2)
        table["k"] = [thing.count]
        return items.pop()
    return f, lambda i: f(X), 1


def writes():
    y = terra.zeros(2, 3)

    def f(x):
        y.add_(x)
        return y[0]
    return f, lambda i: f(X), 1


def pair_without_backward():
    def f(x):
        return (x * W).exp()
    return f, lambda i: f(X), 1


def pair_with_backward():
    def f(x):
        return (x * W).sum()

    def call(i):
        W.grad = None
        f(X).backward()
    return f, call, 1


def backward_inside():
    def f(x):
        W.grad = None
        loss = (x * W).sum()
        loss.backward()
        return loss.detach()
    return f, lambda i: f(X), 1


def number_out():
    def f(x):
        return x.sum().item() + 1
    return f, lambda i: f(X), 1


def raising_callee():
    def f(x, n):
        if n % 5 == 4:
            raise ValueError(n)
        return x * 2

    def call(i):
        try:
            f(X, i)
        except ValueError:
            pass
    return f, call, 0


def never_captured():
    def f(x):
        return x * 2, os.getpid()
    return f, lambda i: f(X), 0


def check_calls(make, chaos=""):
    """A generator, for those are never captured as a whole: what is called here is."""
    os.environ["TERRA_CHAOS"] = chaos
    C.capture_start()
    f, call, served = make()
    for i in range(400):
        call(i)
    gc.collect()
    before = resident(), len(gc.get_objects()), [sys.getrefcount(o) for o in (X, W, None, f)]
    for i in range(CALLS):
        call(i)
    gc.collect()
    after = resident(), len(gc.get_objects()), [sys.getrefcount(o) for o in (X, W, None, f)]
    frame = max(C.capture_frame(f), C.capture_frame(call), key=lambda frame: frame["hits"])  # f may be part of call
    label = f"{make.__name__} {chaos}"
    assert not served or frame["hits"] > CALLS // 2, f"{label}: served {frame['hits']} times: {frame['why']}"
    assert after[0] - before[0] < 1_000_000, f"{label}: {after[0] - before[0]} bytes more are resident"
    assert abs(after[1] - before[1]) < 50, f"{label}: {after[1] - before[1]} objects more"
    assert all(abs(b - a) < 50 for a, b in zip(before[2], after[2])), f"{label}: reference counts {before[2]} -> {after[2]}"
    yield


def check_closures():
    """Closures share code; functions made from text have code of their own. Both are dropped with what they refer to."""
    def make(k):
        big = terra.ones(1000)

        def f(x):
            return x * k + big.sum()
        return f, weakref.ref(big)

    source = "def f(x):\n    return x * K + 1\n"

    def closure(k):
        f, watcher = make(k)
        for _ in range(2):
            f(X)
        return watcher

    def own_code(k):
        names = {"K": k}
        exec(source, names)
        for _ in range(5):
            names["f"](X)
        return weakref.ref(names["f"])

    # Code of its own is in a cycle with its entry; only so many idle entries are kept.
    for one, count, most in ((closure, 20_000, 100), (own_code, 3_000, 2_000)):
        for k in range(300):
            one(k % 3)
        gc.collect()
        before = resident(), len(gc.get_objects())
        watchers = [one(k % 3) for k in range(count)]
        gc.collect()
        alive = sum(watcher() is not None for watcher in watchers)
        del watchers
        after = resident(), len(gc.get_objects())
        assert alive <= most, f"{one.__name__}: {alive} of {count} are alive"
        assert after[0] - before[0] < 20_000 * most, f"{one.__name__}: {after[0] - before[0]} bytes more are resident"
        assert abs(after[1] - before[1]) < 10 * most, f"{one.__name__}: {after[1] - before[1]} objects more"
        yield


def check_cycles():
    """A captured function, its entry and what the entry holds may refer to each other."""
    def make():
        class Model(terra.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = terra.nn.Parameter(terra.ones(3))
                self.weight.register_hook(lambda g: g * 1 if self.weight is not None else g)

            def forward(self, x):
                return (x * self.weight).sum()
        model = Model()
        for _ in range(6):
            model(X).backward()
        return weakref.ref(model), weakref.ref(model.weight)

    watchers = [watcher for _ in range(50) for watcher in make()]
    gc.collect()
    gc.collect()
    alive = sum(watcher() is not None for watcher in watchers)
    assert alive == 0, f"{alive} of {len(watchers)} objects in cycles are alive"
    yield


# At module level: a function called so often would be looked at itself.
kinds = [hit, several_entries, number_that_changes, miss, effects, writes, pair_without_backward, pair_with_backward,
         backward_inside, number_out, raising_callee, never_captured]
checks = {make.__name__: check_calls(make) for make in kinds}
checks |= {"assert": check_calls(hit, "assert=0@3"), "guard": check_calls(effects, "guard=*@3"),
           "closures": check_closures(), "cycles": check_cycles()}
failed = []
for name, check in checks.items():
    if not sys.argv[1:] or name in sys.argv[1:]:
        try:
            for _ in check:
                pass
        except AssertionError as error:
            failed.append(str(error))
print("\n".join(failed + [f"{len(checks) - len(failed)} passed"]))
sys.exit(bool(failed))
