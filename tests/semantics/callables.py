# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Functions written in C that a frame calls: builtins, math, operator, functools, itertools, text, printing."""
import functools
import itertools
import math
import operator
import random
import sys

import terra
from _harness import Bag, main, program


def t(i, n=3):
    return terra.arange(float(n)) + i


@program(calls=12, captures=8)
def arithmetic():
    def f(x, n, s):
        a = abs(n - 3) + round(s * 1.26, 1) + divmod(n, 3)[1] + pow(2, 3) + int(s) + float(n) + max(n, 2) + min(1, s)
        b = math.sqrt(n + 1) + math.floor(s) + math.pi + math.log(2.0) + math.ceil(s) + math.exp(0.5)
        return x * a + b, bool(n), math.isnan(s), n.bit_length(), s.is_integer()
    return f, lambda i: (t(i), i, i * 0.5), None


@program(calls=12, captures=5)
def text():
    def f(x, n, name):
        label = f"{name}-{n:03d}|{n / 3:.2f}|{name!r:>6}"
        parts = f"{name}|b".split("|")
        joined = ",".join(parts)
        return x * len(parts[0]), joined.upper(), name.startswith("a"), label.replace("-", "+"), \
            "%d" % n, str(n) + repr(name), ord(name[0]), chr(97 + n % 5), name * 2
    return f, lambda i: (t(i), i, "ab"[i // 6] + "c"), None


@program(calls=12, captures=6)
def over_containers():
    def f(xs, ns, x):
        total = sum(xs)
        biggest = max(ns), min(ns, key=lambda n: -n), max(ns, default=0), sum(ns, 10)
        both = any(n > 2 for n in ns), all(ns), sorted(ns, reverse=True), list(reversed(ns))
        pairs = [(i, n) for i, n in enumerate(ns, 1)]
        table = dict(zip("abc", ns))
        return total * len(ns) + x, biggest, both, pairs, table, tuple(map(str, ns)), set(ns) == {1, 2}, list(range(3))
    return f, lambda i: ([t(i), t(i + 1)], [1, 2 + i // 4, 3], t(i)), None


@program(calls=12, captures=6)
def filter_and_map_with_numbers_that_change():
    def f(x, n, ns):
        big = [k for k in filter(lambda q: q > n, ns)]
        shifted = [k for k in map(lambda q: q + n, ns)]
        total = 0
        for k in filter(None, map(lambda q: q - n, ns)):
            total += k
        return x * len(big), shifted, total
    return f, lambda i: (t(i), i % 3, [0, 1, 2, 3]), None


@program(calls=12, captures=3)
def a_filter_that_rejects_everything():
    def f(x, n, ns):
        out = []
        for k in filter(lambda q: q > n, ns):
            out.append(k)
        return x * len(out), [*filter(lambda q: q > n, ns)]
    return f, lambda i: (t(i), (7, 5, 1)[i % 3], [1, 2, 6]), None


@program(calls=12, captures=None)
def an_iterator_made_elsewhere():
    def f(it, x):
        out = []
        for k in it:
            out.append(x * k)
        return out
    return f, lambda i: (filter(lambda q: q > 2, [1, 2, i]) if i % 2 else iter([1] * (i // 6)), t(i)), None


@program(calls=12, captures=6)
def truth_of_what_a_filter_sees():
    class Node:
        def __init__(self, *children):
            self.children = list(children)
    def f(nodes, x):
        inner = [n for n in filter(lambda n: n.children, nodes)]
        return x * len(inner), any(n.children for n in nodes), all(n.children for n in nodes)
    def args(i):
        return [Node(1), Node() if i < 4 else Node(2), Node(*range(i // 8))], t(i)
    return f, args, None


@program(calls=12, captures=5)
def operators_as_functions():
    def f(x, d, n):
        y = operator.mul(x, 2) + operator.add(n, 1)
        k = operator.index(n)
        pairs = sorted([(2, "b"), (n, "a")], key=operator.itemgetter(0))
        return y + operator.getitem(d["l"], 1), k, pairs, operator.neg(n), operator.truth(n)
    return f, lambda i: (t(i), {"l": [t(i), t(i + 1)]}, i % 4), None


@program(calls=12, captures=4, cut=True)
def reductions_and_partials():
    scale = functools.partial(lambda k, y, bias=0: y * k + bias, 3)
    def f(xs, x, n):
        product = functools.reduce(lambda a, b: a * b, xs)
        total = functools.reduce(operator.add, [1, 2, n], 10)
        mine = functools.partial(scale, bias=n)
        half = functools.partial(lambda a, b: a - b, x)
        return product + total, mine(x), half(1), scale(x), half
    def run(xs, x, n):
        *rest, half = f(xs, x, n)
        return rest, half(2), half.func is not None, half.args[0] is x
    run.target = f
    return run, lambda i: ([t(i), t(i + 1)], t(i), i % 3), None


@program(calls=12, captures=8)
def iterators():
    def f(xs, x, n):
        out = []
        for a in itertools.chain(xs, [x], (n,)):
            out.append(a)
        for i, a in zip(itertools.count(1), xs):
            out.append(a * i)
        for a, b in itertools.zip_longest(xs, [x], fillvalue=None):
            out.append(b is None)
        for a, b in itertools.product([1, n], "ab"):
            out.append((a, b))
        for a in itertools.islice(xs, 1, None):
            out.append(a + 1)
        out += itertools.repeat(x, 2)
        out += itertools.accumulate([1, 2, n])
        return out, list(itertools.chain.from_iterable([xs, xs]))[0] + x
    return f, lambda i: ([t(i), t(i + 1)], t(i), i // 6), None


@program(calls=12, captures=8)
def stepping_an_iterator():
    def f(xs, x):
        it = iter(xs)
        first = next(it)
        second = next(it, None)
        third = next(it, None)
        rest = list(it)
        return first + x, second is None, third is None, len(rest)
    return f, lambda i: ([t(i), t(i + 1)] + [t(1)] * (i // 6), t(i)), None


@program(calls=12, captures=8)
def printing():
    o = Bag(step=0, lr=0.1)
    def f(o, x):
        o.step += 1
        print("step", o.step, f"{o.lr:.3f}", sep=" | ")
        o.lr = o.lr * 0.5
        if o.step % 3 == 0:
            print(o.step, [1, 2], {"a": 1}, None, end=".\n", flush=True)
        return x * o.lr
    return f, lambda i: (o, t(i)), o


@program(calls=12, captures=8)
def printing_a_number_of_a_tensor():
    def f(x):
        loss = (x * x).sum()
        value = loss.item()
        print(f"loss {value:.4f}")
        return loss * 2
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8)
def random_numbers_in_order():
    generator = random.Random(7)
    def f(g, x, p):
        if g.random() < p:
            x = x * 2
        y = x + g.random()
        return y, g.random() < 2
    def args(i):
        if i == 5:
            generator.random()
        return generator, t(i), 2.0 if i < 6 else -1.0
    return f, args, None


@program(calls=30, captures=10)
def random_choice_of_a_branch():
    random.seed(3)
    def f(x):
        if random.random() < 0.5:
            return x * 2
        return x + random.random()
    def run(x):
        return sys._getframe().f_lineno > 0 and f(x), random.random()
    run.target = f
    return run, lambda i: (t(i),), None


if __name__ == "__main__":
    main()
