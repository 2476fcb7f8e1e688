# run: TERRA_EXACT=1
"""The exception that is set belongs to the program: what the recorder asks Python in vain it keeps to itself. C code that
follows in the same frame looks whether one is set."""
import collections
import operator

import terra
from _harness import main, program


def t(i):
    return terra.arange(2.0) + i


def of_tables(f):
    return f, lambda i: (t(i), {0: 1, 1: 2, 2: i}), None


@program(calls=8, captures=0)
def slice_as_a_key():
    def f(x, d):
        try:
            d[slice(1)]
        except TypeError:
            return x * 2, collections.OrderedDict(d), len(d)
    return of_tables(f)


@program(calls=8, captures=0)
def list_as_a_key():
    def f(x, d):
        try:
            d[[1]]
        except TypeError:
            return x * 2, len(d), sorted(d), collections.deque(d)
    return of_tables(f)


@program(calls=8, captures=0)
def store_under_a_list():
    def f(x, d):
        try:
            d[[1]] = 3
        except TypeError:
            return x * 2, tuple(d), collections.Counter("ab")
    return of_tables(f)


@program(calls=8, captures=0)
def dict_of_lists():
    def f(x, d):
        try:
            {[1]: 2}
        except TypeError:
            return x * 2, tuple(d), frozenset(d)
    return of_tables(f)


@program(calls=8, captures=0)
def list_asked_for():
    def f(x, d):
        try:
            d.get([1])
        except TypeError:
            return x * 2, list(d), collections.deque(d, 2)
    return of_tables(f)


@program(calls=8, captures=0)
def list_looked_for():
    def f(x, d):
        try:
            [1] in d
        except TypeError:
            return x * 2, list(d), collections.OrderedDict(d)
    return of_tables(f)


@program(calls=8, captures=0)
def slice_inside_a_tuple():
    def f(x, d):
        try:
            d[1, slice(2)]
        except TypeError:
            return x * 2, collections.deque(d.keys(), 1)
    return of_tables(f)


@program(calls=8, captures=0)
def tail_of_a_dict():
    def f(x, s):
        try:
            return x + 1, s[-1:]
        except (TypeError, KeyError):
            return x * 2, tuple(collections.deque(s, 1))
    return f, lambda i: (t(i), ["ABC", (3, 2, 1), {0: "zero", 1: "one"}][i % 3]), None


@program(calls=8, captures=0)
def index_beyond_all_indices():
    def f(x, s):
        try:
            return x + operator.getitem(s, 2**70)
        except IndexError:
            return x * 2, collections.deque(s, 1), s[-2**63:], s[:2**70], s[-2**80:]
    return f, lambda i: (t(i), [1, 2, i]), None


@program(calls=8, captures=0)
def nothing_many_times():
    def f(x):
        return x * 2, [] * 2**62, () * 2**62, [1, 2] * -2**62, collections.deque([1, 2, 3])
    return f, lambda i: (t(i),), None


@program(calls=8, captures=0)
def half_a_character_as_a_name():
    class Plain:
        pass
    o = Plain()

    def f(x):
        setattr(o, "\ud800", 3)
        try:
            getattr(Plain, "\ud801")
        except AttributeError:
            return x * getattr(o, "\ud800"), collections.deque([1])
    return f, lambda i: (t(i),), None


main()
