# run: TERRA_EXACT=1
# long run: TERRA_EXACT=1 CALLS=100000
# timeout: 1200
"""Calls of captured functions leave nothing behind: memory, objects and reference counts are flat over many calls of
every kind of entry, and functions that die take their entries with them. CALLS says how many calls are many.

    terra-run tests/python/capture/memory.py [KIND...]"""
import collections
import gc
import os
import resource
import sys
import weakref

import terra
import _terra_C as C

CALLS = int(os.environ.get("CALLS", 20_000))
X = terra.arange(6.0).reshape(2, 3)
W = terra.ones(3, requires_grad=True)


Y = -X
COMMON = (X, Y, W, None, True, (), "k", 0, 1, 2, terra.Tensor)


class Thing:
    count = 0


class Made:
    def __init__(self, x):
        self.x, self.twice = x, x * 2


class Squared(terra.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, gradient):
        x, = ctx.saved_tensors
        return gradient * 2 * x


class Model(terra.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = terra.nn.Linear(3, 4)
        self.outer = terra.nn.Linear(4, 1)

    def forward(self, x):
        return self.outer(self.inner(x).relu())


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


def merged_paths():
    def f(x):
        y = x + 1
        if y.sum() > 0:
            return y * 2
        return y - 1
    return f, lambda i: f((X, Y)[i % 2]), 1


def many_paths():
    def f(x):
        if x[0, 1] > 0:
            x = x * 2
        if x[1, 0] > 1:
            return x - 1
        return x + 1
    inputs = [X, Y, X * 0, X * 0.1]
    return f, lambda i: f(inputs[i % 4]), 1


def varying_sizes():
    sizes = [terra.ones(n, 3) for n in range(1, 21)]

    def f(x):
        return (x * 2).sum(0) / x.shape[0]
    return f, lambda i: f(sizes[i % 20]), 1


def more_sizes_than_instances():
    sizes = [terra.ones(n, 3) for n in range(1, 51)]

    def f(x):
        return (x * 2).sum(0) / x.shape[0]
    return f, lambda i: f(sizes[i % 50]), 0


def cut_entry():
    def f(x):
        y = x * 2 + 1
        z = [y, y.sum()]
        os.getpid()
        return z
    return f, lambda i: f(X), 1


def generator_inside():
    def doubled(xs):
        for x in xs:
            yield x * 2

    def f(x):
        return sum(y.sum() for y in doubled([x, x + 1])), list(zip("ab", doubled((x, x))))
    return f, lambda i: f(X), 1


def containers():
    items, table, names, queue = [], {}, set(), collections.deque(maxlen=3)

    def f(x, k):
        items.append(x)
        items.extend((k, x * 2))
        items.insert(0, k)
        del items[1]
        items.pop()
        items.clear()
        table.update(a=x * 2, k=k)
        table.setdefault("b", [k])
        table.pop("b")
        names.add("n")
        names.discard("n")
        queue.append(x + 1)
        return [table["a"]] + list(queue)
    return f, lambda i: f(X, i), 1


def objects_made():
    things = []

    def f(x):
        made = Made(x)
        things[:] = [made, Made(made.twice)]

        def inner(y):
            return made.x + y
        return made, inner
    return f, lambda i: f(X)[1](X), 1


def exceptions_inside():
    table = {}

    def f(x, k):
        try:
            return x * table[k]
        except KeyError as error:
            try:
                raise ValueError(k) from error
            except ValueError:
                return x + 1
    return f, lambda i: f(X, "k"), 1


def raised_out():
    def f(x, n):
        y = x * 2
        if n == 1:
            raise ValueError(y)
        return y

    def call(i):
        try:
            f(X, i % 2)
        except ValueError:
            pass
    return f, call, 1


def random_numbers():
    def f(x):
        return terra.nn.functional.dropout(x, 0.5) + terra.rand(3)
    return f, lambda i: f(X), 1


def views():
    def f(x):
        return x[0], x.T, x.view(3, 2)[1:]
    return f, lambda i: f(X), 1


def second_derivatives():
    def f(x):
        return (x * W).exp().sum()

    def call(i):
        gradient, = terra.autograd.grad(f(X), W, create_graph=True)
        terra.autograd.grad(gradient.sum(), W)
    return f, call, 1


def hooks():
    seen = collections.deque(maxlen=2)

    def f(x):
        w = W * 1
        w.register_hook(seen.append)
        loss = (x * w).sum()
        loss.backward()
        W.grad = None
        return loss.detach()
    return f, lambda i: f(X), 0


def autograd_function():
    def f(x):
        W.grad = None
        Squared.apply(x * W).sum().backward()
        return W.grad
    return f, lambda i: f(X), 1


def training(optimizer_of):
    def make():
        model = Model()
        optimizer = optimizer_of(model.parameters())

        def f(x):
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            return loss.item()
        return f, lambda i: f(X), 1
    return make


def module_alone():
    model = Model()
    return Model.forward, lambda i: model(X), 1


def recorded_again():
    def f(x, k):
        return x * 2 + len(k)

    def call(i):
        if i % 40 == 0:
            C.capture_reset()
        f(X, "abc"[:i % 3])
    return f, call, 0


def closures_of_one_code():
    def make(k):
        def f(x):
            return x * k
        return f
    first = make(0)

    def call(i):
        f = make(i % 7)
        f(X)
        f(X)
    return first, call, 0


def counted(f):
    """Bytes, objects, references. Each empty place in CPython's cache of type attributes is a reference to None."""
    gc.collect()
    sys._clear_type_cache()
    return resident(), len(gc.get_objects()), [sys.getrefcount(o) for o in (*COMMON, f)]


def check_calls(make, chaos="", name=None):
    """A generator, for those are never captured as a whole: what is called here is."""
    os.environ["TERRA_CHAOS"] = chaos
    C.capture_start()
    f, call, served = make()
    for i in range(400):
        call(i)
    before = counted(f)
    for i in range(CALLS):
        call(i)
    after = counted(f)
    frame = max(C.capture_frame(f), C.capture_frame(call), key=lambda frame: frame["hits"])  # f may be part of call
    label = f"{name or make.__name__} {chaos}"
    assert not served or frame["hits"] > CALLS // 2, f"{label}: served {frame['hits']} times: {frame['why']}"
    assert after[0] - before[0] < 1_000_000, f"{label}: {after[0] - before[0]} bytes more are resident"
    assert abs(after[1] - before[1]) < 50, f"{label}: {after[1] - before[1]} objects more"
    # An entry that is measured not to pay goes when it is found out, with all the None that it names.
    few = max(50, CALLS // 100)
    assert all(abs(b - a) < few for a, b in zip(before[2], after[2])), f"{label}: reference counts {before[2]} -> {after[2]}"
    yield


def check_closures():
    """Closures share code; functions made from text have code of their own. Both are dropped with what they refer to."""
    def make(k):
        big = terra.ones(1000)

        def f(x):
            return x * k + big.sum()
        return f, weakref.ref(big)

    def closure(k):
        f, watcher = make(k)
        for _ in range(2):
            f(X)
        return watcher

    def own_code(*lines):
        source = "\n".join(lines)

        def one(k):
            names = {"K": k}
            exec(source, names)
            for _ in range(5):
                names["f"](X)
            return weakref.ref(names["f"])
        one.__name__ = source
        return one

    # A function of its own code and its globals refer to each other; their entry must not make that a cycle that the
    # collector can't see. One that reads globals has them: of those only so many idle ones are kept.
    for one, count, most in (
            (closure, CALLS, 100),
            (own_code("def f(x):", "    return x * 3 + 1"), CALLS, 100),
            (own_code("def f(x):", "    return x * K + 1"), 3_000, 2_000)):
        for _ in range(2):  # the first round is for what the test itself needs
            watchers = []
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
         backward_inside, number_out, raising_callee, never_captured, merged_paths, many_paths, varying_sizes,
         more_sizes_than_instances, generator_inside, containers, objects_made, exceptions_inside, raised_out,
         random_numbers, views, second_derivatives, hooks, autograd_function, module_alone, recorded_again,
         closures_of_one_code]
checks = {make.__name__: check_calls(make) for make in kinds}
checks |= {name: check_calls(training(of), name=name) for name, of in {
    "sgd": lambda parameters: terra.optim.SGD(parameters, lr=0.01, momentum=0.9),
    "adam": lambda parameters: terra.optim.AdamW(parameters, lr=0.001)}.items()}
checks |= {"cut": check_calls(cut_entry, "cut=1"), "assert": check_calls(hit, "assert=0@3"),
           "guard": check_calls(effects, "guard=*@3"), "op": check_calls(effects, "op=*@3"),
           "interrupt": check_calls(pair_without_backward, "interrupt=*@3"),
           "closures": check_closures(), "cycles": check_cycles()}
if unknown := set(sys.argv[1:]) - checks.keys():
    sys.exit(f"there is no {', '.join(unknown)}")
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
