# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=assert=*@2
"""Cuts in the middle of loops: the iterators go on where they were."""
import os

import terra
from _harness import main, program

CALL = 4


def t(n, grad=False):
    x = terra.arange(4.0).view(2, 2) * 0.5 + n
    return x.requires_grad_() if grad else x


def opaque():
    """What no recorder can follow."""
    return os.getpid() > 0


@program(calls=12, captures=8, cut=CALL)
def for_over_a_list():
    def f(x, items):
        y, seen = x, []
        for item in items:
            y = y * item + 1
            seen.append(item)
            if item == 3:
                os.getpid()
        return y, seen
    return f, lambda i: (t(i), [1, 2, 3, 4]), None


@program(calls=12, captures=8, cut=CALL)
def for_over_a_list_that_grows_afterwards():
    def f(x, items):
        y = x
        for item in items:
            y = y * item + 1
            if item == 2:
                os.getpid()
                items.append(9)
        return y, items
    return f, lambda i: (t(i), [1, 2, 3]), None


@program(calls=12, captures=8, cut=CALL)
def for_over_a_range():
    def f(x):
        y = x
        for k in range(10, 1, -3):
            y = (y + k).relu()
            if k == 7:
                opaque()
        return y
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8, cut=CALL)
def for_over_enumerate_and_zip():
    def f(x, names, d):
        y, seen = x, []
        for k, (name, (key, value)) in enumerate(zip(names, d.items()), 5):
            y = y * value + k
            seen.append((k, name, key))
            if k == 6:
                os.getpid()
        return y, seen
    return f, lambda i: (t(i), ("p", "q", "r"), {"a": 1, "b": 2, "c": 3}), None


@program(calls=12, captures=8, cut=CALL)
def for_over_dicts():
    def f(x, d):
        y, seen = x, []
        for key in d:
            y = y * d[key] + 1
            for value in d.values():
                seen.append((key, value))
                if key == "b" and value == 2:
                    os.getpid()
        return y, seen
    return f, lambda i: (t(i), {"a": 1, "b": 2, "c": 3}), None


@program(calls=12, captures=8, cut=CALL)
def for_over_reversed():
    def f(x, items):
        y = x
        for item in reversed(items):
            y = y * item + 1
            for other in reversed((5, 6, 7)):
                y = y + other
                if item == 2 and other == 6:
                    os.getpid()
        return y
    return f, lambda i: (t(i), [1, 2, 3]), None


@program(calls=12, captures=8, cut=CALL)
def the_last_iteration():
    def f(x):
        y = x
        for item in [1, 2, 3]:
            y = y * item + 1
            if item == 3:
                os.getpid()
        else:
            y = -y
        return y
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8, cut=True)
def iterator_in_a_local_and_on_the_stack():
    def f(x, items):
        it, y = iter(items), x
        for item in it:
            y = y * item + next(it)
            if item == 3:
                os.getpid()
        return y, list(it)
    return f, lambda i: (t(i), [1, 2, 3, 4, 5, 6]), None


@program(calls=12, captures=4, cut=True)
def an_exhausted_iterator_stays_so():
    def f(x, items):
        y = (x * 2 + 1).relu()
        it = iter(items)
        y = y * sum(it) + 1
        os.getpid()
        items.append(7)
        return y.relu(), list(it)
    return f, lambda i: (t(i), [1, 2]), None


@program(calls=12, captures=6, cut=True)
def a_generator_is_never_rebuilt():
    def numbers():
        yield 1
        yield 2
    def f(x):
        y = (x * 2 + 1).relu()
        for k in numbers():
            y = y * k + 1
            os.getpid()
        return y
    return f, lambda i: (t(i),), None


@program(calls=12, captures=0, cut=True)
def iterators_that_have_no_place():
    from collections import OrderedDict, deque
    def f(x, log):
        y = x * 2 + 1
        for z, w in zip(deque([y, y + 1]), OrderedDict(a=1, b=2)):
            log.append(opaque())
            y = y + z
        for n in frozenset((1,)):
            log.append(opaque() + n)
        return y
    log = []
    return f, lambda i: (t(i), log), log


@program(calls=12, captures=8, cut=True)
def functions_that_are_alive():
    """They are made anew in front of the opaque call, over the cells that the frame goes on with."""
    def f(x, n):
        count = n
        def g(y, k=2, *, s=3):
            nonlocal count
            count += 1
            return y * k + s + count
        h = lambda v: g(v) + count  # noqa: E731
        z = (x * 2 + 1).relu() + x
        opaque()
        count += 10
        a = h(g(z))
        opaque()
        rows = [g(each) + opaque() for each in (a, z)]
        return sum(rows), count, g.__name__, g.__qualname__, g.__defaults__, g.__kwdefaults__, g.__closure__[0].cell_contents
    return f, lambda i: (t(i), i), None


@program(calls=12, captures=0)
def a_comprehension_that_calls_the_method_again():
    class Node:
        def __init__(self, *below):
            self.below = below
        def value(self, x, seen):
            seen.append(len(self.below))
            if not self.below:
                return x * 2
            parts = [node.value(x + len(seen), seen) for node in self.below]
            self.last = sum(parts)
            return self.last.tanh() + parts[-1]
    trees = [Node(Node(), Node(Node(), Node())), Node(Node(Node(Node()))), Node()]
    seen = []
    return trees[0].value, lambda i: (t(i * 0.1, True), seen), lambda: (seen, [hasattr(tree, "last") for tree in trees])


if __name__ == "__main__":
    main()
