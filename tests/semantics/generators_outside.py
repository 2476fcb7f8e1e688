# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Generators and iterators that were made before the call and are drained, or not, inside it."""
import itertools

import terra
from _harness import main, program


def t(n):
    return terra.arange(4.0).view(2, 2) * 0.5 + n


def look_at(generator):
    """What is left of a generator, without disturbing the comparison: whether it has a frame, and what it yields."""
    return generator.gi_frame is None, [x.tolist() for x in generator]


class Ended:
    """Generators are compared by what can be seen of them."""

    def __init__(self):
        self.seen = []


def ramp(x, n, log):
    try:
        for k in range(n):
            log.append(f"r{k}")
            x = x * 0.5 + k
            yield x
        return x.sum()
    finally:
        log.append("end")


@program(calls=14, captures=7)
def drained_in_a_loop():
    log = []
    def f(g):
        out = terra.zeros(2, 2)
        for i, y in enumerate(g):
            log.append(i)
            out = out + y
        return out
    return f, lambda i: (ramp(t(i), 3 + i % 2, log),), log


@program(calls=14, captures=6)
def left_in_the_middle():
    """A generator that is left suspended is not captured; the calls that drain theirs are."""
    log, kept, state = [], [], Ended()
    def f(g, limit):
        out = terra.zeros(2, 2)
        for i, y in enumerate(g):
            out = out + y
            if i == limit:
                break
        return out
    def args(i):
        state.seen += [look_at(g) for g in kept]
        kept[:] = [ramp(t(i), 3, log)]
        return kept[0], 1 if i % 5 == 4 else 9
    return f, args, (log, state)


@program(calls=12, captures=7)
def generator_expressions_as_arguments():
    def f(xs, ys):
        return sum(xs) * 2, list(ys), max(3, 4)
    def args(i):
        return (t(j) * i for j in range(3)), (x + 1 for x in [t(i), t(1)])
    return f, args, None


@program(calls=12, captures=7)
def a_chain_of_generators():
    def doubled(xs):
        for x in xs:
            yield x * 2
    def shifted(xs, k):
        yield from (x + k for x in xs)
    def f(xs):
        a, b = xs
        return a * b
    return f, lambda i: (shifted(doubled(iter([t(i), t(2)])), i % 2),), None


@program(calls=12, captures=7)
def iterators_of_containers():
    kept, state = [], Ended()
    def f(it, numbers):
        first = next(it)
        total = first
        for x, k in zip(it, numbers):
            total = total * k + x
        return total
    def args(i):
        state.seen += [(list(a), list(b)) for a, b in kept]
        kept[:] = [(iter([t(i), t(i + 1), t(2), t(3)]), iter(range(2)))]
        return kept[0]
    return f, args, state


@program(calls=12, captures=7)
def an_iterator_that_has_run_dry_stays_dry():
    kept, state = [], Ended()
    def f(x, it):
        for v in it:
            x = x * v
        return x * 2
    def args(i):
        for items, iterator in kept:
            items.append(9)
            state.seen.append(list(iterator))
        items = [2.0, 3.0] if i % 2 else []
        kept[:] = [(items, iter(items))]
        return t(i), kept[0][1]
    return f, args, state


@program(calls=12, captures=7)
def closures_of_generators():
    k = [1.0]
    def make(x):
        def inner():
            for j in range(3):
                yield x * j + k[0]
        return inner()
    def f(g):
        return [y * 2 for y in g]
    def args(i):
        k[0] = float(i)
        return (make(t(i)),)
    return f, args, k


@program(calls=12, captures=None)
def started_outside():
    def f(g):
        return sum(g, terra.zeros(2, 2))
    def args(i):
        g = ramp(t(i), 3, [])
        next(g)
        return (g,)
    return f, args, None


@program(calls=12, captures=4)
def used_twice():
    """The second loop finds the generator at its end."""
    def f(g):
        return [x * 2 for x in g], [x * 3 for x in g]
    def args(i):
        return (ramp(t(i), 2, []) if i % 2 else iter([t(i)]),)
    return f, args, None


@program(captures=None)
def sliced_and_handed_out():
    """Nobody can make another iterator that stands where this one does: it holds a generator."""
    def f(x):
        y = x * 2
        return itertools.islice(ramp(y, 3, []), 1, None)
    return f, lambda i: (t(i),), None


@program(calls=14, captures=8)
def iterators_that_may_be_one():
    kept, state = [], Ended()
    def f(a, b, c):
        return next(a), next(b), next(c), list(zip(b, a))
    def args(i):
        state.seen += [list(it) for it in kept]
        makes = [lambda: iter([1, 2, 3, 4]), lambda: iter((1, 2, 3, 4)), lambda: iter(range(4))]
        make = makes[i % 3] if i > 10 else makes[0]
        a, b, c = make(), make(), make()
        kept[:] = [(a, b, c), (a, a, b), (a, b, a)][i // 4 % 3 if i > 4 else 0]
        return kept
    return f, args, state


@program(calls=14, captures=8)
def generators_that_may_be_one():
    def halves(x):
        for k in range(3):
            yield x * 0.5 ** k
    def f(a, b):
        return [x * 2 for x in a], [x + 1 for x in b]
    def args(i):
        a, b = halves(t(i)), halves(t(i))
        return a, a if 5 < i < 9 else b
    return f, args, None


@program(calls=14, captures=8)
def a_generator_over_an_iterator_of_the_caller():
    def copies(values):
        for value in values:
            yield value * 2
    def f(x, g, h, it):
        return x * next(it), next(it), list(g), list(it), list(h)
    def args(i):
        it, one, two = (iter([1, 2, 3, 4]) for _ in range(3))
        return t(i), copies(it if 5 < i < 9 else one), (v + 1 for v in (it if i > 10 else two)), it
    return f, args, None


@program(calls=12, captures=6)
def an_iterator_whose_list_shrinks():
    kept, state = [], Ended()
    def f(x, it, items):
        x = x * next(it) + next(it)
        if len(items) == 3:
            items.clear()
        else:
            del items[1:]
            items.append(5)
        return x
    def args(i):
        for items, it in kept:
            items.extend([6, 7, 8, 9])
            state.seen.append(list(it))
        items = [2.0, 3.0, 4.0, 5.0][:3 + i % 2]
        kept[:] = [(items, iter(items))]
        return t(i), kept[0][1], items
    return f, args, state


@program(calls=12, captures=0)
def cut_into_pieces_before():
    """Where it is then is known to nobody but itself."""
    def f(x, it):
        return x * 2, list(itertools.islice(it, 2)), list(zip([3, 3], it))
    return f, lambda i: (t(i), iter([4, i // 8, 6, i // 5])), None


@program(calls=12, captures=0)
def asked_for_any_before():
    def f(x, it):
        return x * 2, any(it), list(zip([3, 3], it))
    return f, lambda i: (t(i), iter([0, 4, i // 8, i // 5])), None


@program(calls=12, captures=0)
def zipped_twice():
    def f(x, it):
        return x * 2, list(zip(it, [3])), list(zip(it, [3]))
    return f, lambda i: (t(i), iter([i // 9, 4, 4 if i < 5 else i])), None


if __name__ == "__main__":
    main()
