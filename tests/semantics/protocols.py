# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Methods that instructions call by themselves, with numbers that change between calls."""
import dataclasses
import types
import typing

import terra
from _harness import main, program


def t(i, n=3):
    return terra.arange(float(n)) + i


class Data:
    def __init__(self):
        self.x, self.y = terra.arange(60.0).reshape(20, 3), list(range(20))

    def __len__(self):
        return 20

    def __getitem__(self, i):
        return self.x[i], self.y[i]


@program(calls=14, captures=10, recordings=3)
def item_of_a_data_set():
    data = Data()
    def f(i):
        x, y = data[i]
        return x * 2, y
    return f, lambda i: (i,), None


@program(calls=14, captures=10, recordings=3)
def item_of_a_list_transformed():
    class Images:
        def __init__(self):
            self.images, self.transform = [terra.ones(3) * k for k in range(20)], lambda x: x / 2 + 1

        def __getitem__(self, i):
            return self.transform(self.images[i]), i
    images = Images()
    return (lambda i: images[i]), lambda i: ((i * 7) % 20,), None


@program(calls=12, captures=8, recordings=3)
def items_stored_and_deleted():
    class Store:
        def __init__(self):
            self.log = []
            self.last = None

        def __setitem__(self, key, value):
            self.last = (key, value)
            self.log.append(key)

        def __delitem__(self, key):
            self.log.append(-key)

        def __contains__(self, key):
            return key > 3
    store = Store()
    def f(x, n):
        store[n] = n + 1
        store[n * 2] = x
        del store[n]
        return x * n, n in store
    return f, lambda i: (t(i), i), store


@program(calls=12, captures=8, recordings=3)
def operators_on_either_side():
    class Amount:
        def __init__(self, n):
            self.n = n

        def __add__(self, other):
            return Amount(self.n + (other.n if isinstance(other, Amount) else other))

        def __radd__(self, other):
            return Amount(other * 2 + self.n)

        def __sub__(self, other):
            return self.n - other

        def __rsub__(self, other):
            return other - self.n

        def __imul__(self, other):
            self.n = self.n * other
            return self

        def __pow__(self, other):
            return NotImplemented

        def __lt__(self, other):
            return self.n < other

        def __gt__(self, other):
            return self.n > other
    def f(x, n, m):
        a = Amount(n)
        b = a + m
        c = m + a
        b *= n
        return x * (a + b).n, c.n, a - m, m - a, n - a, a - n, b.n
    return f, lambda i: (t(i), i, [3, 3, 5, 5][i % 4]), None


@program(calls=12, captures=6)
def compared_either_way():
    class Amount:
        def __init__(self, n):
            self.n = n

        def __lt__(self, other):
            return self.n < other

        def __gt__(self, other):
            return self.n > other + 1
    def f(x, n):
        a = Amount(n)
        return (x * 2 if a < 4 else x * 3), 4 < a, n > a
    return f, lambda i: (t(i), i), None


@program(calls=12, captures=8, recordings=3)
def setters():
    class Limited:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, owner, kind=None):
            return getattr(owner, self.name)

        def __set__(self, owner, value):
            setattr(owner, self.name, value * 2)

    class Thing:
        a = Limited()

        def __init__(self):
            self.log = []

        @property
        def b(self):
            return self._b

        @b.setter
        def b(self, value):
            self._b = value + 1
    thing = Thing()
    def f(x, n):
        thing.a = n
        thing.b = n
        return x * thing.a + thing.b
    return f, lambda i: (t(i), i), thing


@program(calls=12, captures=8, recordings=3)
def setattr_of_the_class():
    class Thing:
        def __setattr__(self, name, value):
            object.__setattr__(self, name, value)
            object.__setattr__(self, "last", name)
    thing = Thing()
    def f(x, n):
        thing.n = n
        thing.m = n * 2
        return x * thing.m, thing.last
    return f, lambda i: (t(i), i), thing


@program(calls=12, captures=8)
def method_replaced():
    class Rows:
        def __getitem__(self, i):
            return i * 2
    rows = Rows()
    def args(i):
        if i == 5:
            Rows.__getitem__ = lambda self, i: i * 10
        return t(i), i
    return (lambda x, i: x * rows[i]), args, None


@program(calls=12, captures=4)
def nobody_compares():
    class Silent:
        def __eq__(self, other):
            return NotImplemented

        __hash__ = object.__hash__
    a, b = Silent(), Silent()
    def f(x, p, q):
        return (x * 2 if p == q else x * 3), p != q, p == 1
    return f, lambda i: (t(i), a, a if i % 3 == 2 else b), None


@program(calls=12, captures=0)
def compared_by_what_changes():
    class Loose:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return self.n == other.n if isinstance(other, Loose) else NotImplemented
    a, b = Loose(1), Loose(2)
    def f(x, p, q):
        return (x * 2 if p == q else x * 3), p != q, p == 1, q in [a, b], [b, a].index(q)
    def args(i):
        b.n = 1 + i % 2
        return t(i), a, a if i % 3 == 2 else b
    return f, args, None


@program(calls=12, captures=0)
def default_arguments_and_more():
    class Odd:
        def __getitem__(self, i, k=2, *rest):
            return i * k

        def __contains__(self, *args):
            return args[0] > 3
    odd = Odd()
    return (lambda x, i: (x * odd[i], i in odd)), lambda i: (t(i), i), None


@program(calls=12, captures=None)
def attributes_that_c_code_finds():
    """An alias of a generic class looks its attributes up itself: what one has says nothing about the next."""
    T, S = typing.TypeVar("T"), typing.TypeVar("S")
    aliases = [list[int], list[T], dict[T, S], int | None, list[T] | S]
    def f(x, alias):
        y = x * len(getattr(alias, "__parameters__", ()))
        return y, hasattr(alias, "__typing_subst__"), hasattr(alias, "append")
    return f, lambda i: (t(i), aliases[i % 5]), None


@program(calls=12, captures=8)
def names_that_say_nothing():
    """A module without a name, and an attribute whose name has no encoding."""
    module = types.ModuleType("m")
    del module.__name__
    module.k, odd = 3, Data()
    setattr(odd, "\udc80", 2)
    def f(x):
        module.last = getattr(odd, "\udc80")
        return x * module.k * module.last
    return f, lambda i: (t(i),), None


class Graded:
    """Equality is of grades, and says so with a bool that nothing else knows."""

    def __init__(self, grade):
        self.grade = grade

    def __eq__(self, other):
        return self.grade == other.grade

    def __index__(self):
        return self.grade

    def __repr__(self):
        return "g" * self.grade


GRADES = [(0, 1, 0, 1), (1, 1, 1, 1), (2, 3, 2, 3), (1, 2, 5, 2), (2, 1, 2, 7), (5, 6, 7, 6), (8, 8, 8, 8), (9, 9, 1, 9)]


@program(calls=16, captures=0)
def containers_of_what_compares_itself():
    @dataclasses.dataclass
    class Pair:
        a: Graded
        b: Graded
    def f(x, a, b, c, d):
        return x * 2, [a, b] == [c, d], (a, b) != (c, d), {"a": a, "b": b} == {"a": c, "b": d}, Pair(a, b) == Pair(c, d)
    return f, lambda i: (terra.ones(2) * i, *(Graded(n) for n in GRADES[i % 8])), None


@program(calls=16, captures=0)
def indices_that_are_objects():
    def f(x, items, place, value):
        items[place] = value
        return x * 2, items[place]
    return f, lambda i: (terra.ones(2) * i, [5, 6, 7], Graded(i % 3), 9), None


@program(calls=16, captures=0)
def texts_that_are_filled_up():
    def f(x, o, pair):
        return x * 2, f"{o!r:>6}", "%s" % pair
    return f, lambda i: (terra.ones(2) * i, Graded(6 if i < 8 else i % 7), (Graded(i % 3),)), None


if __name__ == "__main__":
    main()
