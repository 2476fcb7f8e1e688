# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Arguments spread from iterators and from sizes, modules that override __call__, abstract classes, ops as values, numbers
that pass through context managers, and calls that have to be left to the interpreter."""
import collections
import collections.abc
import contextlib
import functools

import terra
from _harness import main, program
from terra import nn


def t(n):
    return terra.arange(4.0).view(2, 2) * 0.5 + n


@program(calls=12, captures=8)
def arguments_from_iterators():
    def pair(a, b, *rest, **named):
        return a * 2 + b, len(rest), sorted(named)
    def f(xs, d):
        rows = list(zip(*zip(xs, (1, 2, 3))))
        first = pair(*d.values(), **{"k": 1})
        second = pair(*(3, 4), *xs[:1])
        third = pair(*enumerate(range(2)), *reversed([1, 2])) if False else None
        return rows, first, second, third, pair(*iter(xs))
    return f, lambda i: ([t(i), t(1), t(2)], {"a": t(i), "b": t(3), "c": i % 2}), None


Corner = collections.namedtuple("Corner", "rows columns")


@program(calls=24, captures=16, recordings=4)
def arguments_from_sizes():
    def size_of(*dims, **named):
        return len(dims), dims[0], sorted(named)
    def f(x, corner, queue):
        size = x.size()
        flat = x.view(-1, size[-1]) * 2
        total = flat.view(*size) + terra.ones(*x.shape) + x.new_zeros(*size[:2], 1)
        queue.append(total.size(0))
        return total, terra.zeros(*corner) + total.sum(), terra.ones(*queue) * 3, size_of(*size, **{"k": 1})
    queues = [collections.deque([2]) for _ in range(24)]
    return f, lambda i: (terra.ones(3, 2 + i % 5, 4) + i, Corner(2, 1 + i % 3), queues[i]), queues


class Gain(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.calls = 0

    def __call__(self, x, *, gain=1.0):
        self.calls += 1
        return super().__call__(x) * gain

    def forward(self, x):
        return self.linear(x) + self.calls


@program(calls=14, captures=8)
def overridden_call_of_a_module():
    terra.manual_seed(0)
    net, log = Gain(), []
    def f(x, gain):
        return net(x, gain=gain)
    def args(i):
        if i == 10:
            net.register_forward_hook(lambda m, a, out: log.append(m.calls) or out * 2)
        return t(i), 1.0 + i
    return f, args, log


class Bag(collections.abc.Sequence):
    def __init__(self, items):
        self.items = items

    def __getitem__(self, i):
        return self.items[i]

    def __len__(self):
        return len(self.items)


@program(calls=16, captures=8)
def abstract_classes():
    def f(v):
        if isinstance(v, collections.abc.Mapping):
            return [x * 2 for x in v.values()]
        if isinstance(v, collections.abc.Sequence):
            return v[0] * 3
        return v + (1 if issubclass(type(v), collections.abc.Iterable) else 2)
    return f, lambda i: ([{"a": t(i)}, [t(i)], t(i), Bag([t(i)])][i % 4],), None


@program(calls=12, captures=8)
def ops_as_values():
    pipe = (terra.sin, terra.neg, functools.partial(terra.add, alpha=2, other=terra.ones(2, 2)))
    def f(x, k):
        return functools.reduce(lambda v, g: g(v) * k, pipe, x)
    return f, lambda i: (t(i), 1.0 + i), None


@program(calls=12, captures=8)
def numbers_through_context_managers():
    log = []
    @contextlib.contextmanager
    def scope(k):
        log.append("in")
        try:
            yield k * 2
        finally:
            log.append("out")
    def f(x, k):
        with scope(k) as a, scope(a) as b:
            return x * b
    return f, lambda i: (t(i), 0.5 * i), log


@program(calls=14, captures=7)
def tables_by_shape_and_type():
    tables = {}
    def f(x, k):
        key = (k, tuple(x.shape), x.dtype)
        if key not in tables:
            tables[key] = terra.ones(x.shape[-1], dtype=x.dtype) * (len(tables) + 1)
        return x * tables[key]
    return f, lambda i: (t(i) if i % 2 else t(i).double(), "k"), tables


@program(calls=12, captures=8, cut=True)
def masks_whose_rows_depend_on_elements():
    def f(x, k):
        y = terra.tanh(x * k) + x
        y = y * 2 - 1
        z = y.sin() + y.cos() * k
        return z[y > 0].sum(), y
    return f, lambda i: (t(i - 6) * 0.3, 1.0 + i), None


if __name__ == "__main__":
    main()
