"""What C code reads by itself: operands of sum(), sorted(), chain() and the like, and what functions, generators and
classes of the program give to it. All of it differs from call to call, and none of it is ever named by the frame."""
import datetime
import decimal
import enum
import functools
import itertools
import operator

import terra
from _harness import Bag, main, program


class Coll:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)


class Level(enum.IntEnum):
    LOW = 0
    MIDDLE = 1
    HIGH = 2


class Number(int):
    pass


class Text(str):
    pass


def t(i):
    return terra.arange(3.0) + i


def bags(i):
    return [Bag(n=i % 3, q=[i % 4] * (i % 2), p=(i % 3, 1), k=0.5), Bag(n=1, q=[5], p=(1, 0), k=2.0)]


def given_bags(f):
    return f, lambda i: (t(i), bags(i)), None


# ---- what key functions return ----

@program(calls=12, captures=2)
def greatest_by_tuple():
    return given_bags(lambda x, l: x * max(l, key=lambda b: b.p).k)


@program(calls=12, captures=2)
def sorted_by_list():
    f = lambda x, l: [x * b.k for b in sorted(l, key=lambda b: b.q)]
    return f, lambda i: (t(i), [Bag(q=[i % 3], k=0.5), Bag(q=[1], k=2.0)]), None


@program(calls=12, captures=2)
def list_sorted_by_tuple():
    def f(x, l):
        l.sort(key=lambda b: b.p)
        return x * l[0].k
    return f, lambda i: (t(i), bags(i)), None


@program(calls=12, captures=2)
def place_of_least():
    return given_bags(lambda x, l: x * min(range(2), key=lambda k: l[k].p))


@program(calls=12, captures=None, reason=4)
def sorted_by_decimals():
    def f(x, l):
        return x * sorted(l, key=lambda b: b.d)[0].k
    return f, lambda i: (t(i), [Bag(d=decimal.Decimal(i % 3), k=0.5), Bag(d=decimal.Decimal(1), k=2.0)]), None


@program(calls=12, captures=None, reason=4)
def greatest_by_date():
    days = [datetime.date(2020, 1, k + 1) for k in range(5)]
    def f(x, l):
        return x * max(l, key=lambda b: b.d).k
    return f, lambda i: (t(i), [Bag(d=days[i % 3], k=0.5), Bag(d=days[1], k=2.0)]), None


@program(calls=12, captures=2)
def greatest_by_what_a_dict_says():
    a, b = Bag(k=0.5), Bag(k=2.0)
    d = {a: 1, b: 2}
    def f(x, l):
        return x * max(l, key=d.get).k
    def args(i):
        d[a] = i % 3 + 1
        return t(i), [a, b]
    return f, args, None


@program(calls=12, captures=8)
def longest():
    def f(x, l, d):
        place = max(range(len(l)), key=l.__getitem__)
        return [x * len(w) for w in sorted(d, key=len)], x * place, max(d, key=d.get)
    return f, lambda i: (t(i), [1, 3, 2], {"aaa": 1, "b": 2}), None


# ---- what generators yield to C code ----

@program(calls=12, captures=2)
def least_of_tuples():
    return given_bags(lambda x, l: x * min(b.p for b in l)[0])


@program(calls=12, captures=2)
def greatest_of_pairs():
    return given_bags(lambda x, l: x * max((b.p, k) for k, b in enumerate(l))[1])


@program(calls=12, captures=2)
def lists_in_a_row():
    return given_bags(lambda x, l: [x * n for n in itertools.chain.from_iterable(b.q for b in l)])


@program(calls=12, captures=2)
def sum_of_lists():
    return given_bags(lambda x, l: x * len(sum((b.q for b in l), [])))


@program(calls=12, captures=2)
def sum_of_mapped_lists():
    return given_bags(lambda x, l: x * len(sum(map(lambda b: b.q, l), [])))


@program(calls=12, captures=2)
def lists_reduced():
    return given_bags(lambda x, l: (x, functools.reduce(operator.add, (b.q for b in l))))


@program(calls=12, captures=2)
def tuples_as_arguments():
    return given_bags(lambda x, l: [x * (a - b) for a, b in itertools.starmap(lambda a, b: (b, a), (b.p for b in l))])


@program(calls=12, captures=2)
def chosen_by_lists():
    return given_bags(lambda x, l: [x * n for n in itertools.compress([1, 2], (b.q for b in l))])


@program(calls=12, captures=2)
def texts_of_lists():
    return given_bags(lambda x, l: (x * 2, " ".join(map(str, (b.q for b in l)))))


@program(calls=12, captures=2)
def truth_of_lists():
    return given_bags(lambda x, l: [x * 2 if q else x for q in map(bool, (b.q for b in l))])


# ---- predicates ----

@program(calls=12, captures=2)
def greatest_of_some():
    return given_bags(lambda x, l: x * max(filter(lambda b: b.q, l), key=lambda b: b.n).k)


@program(calls=12, captures=2)
def number_of_some():
    return given_bags(lambda x, l: x * sum(map(lambda b: 1, filter(lambda b: b.q, l))))


@program(calls=12, captures=2)
def first_of_some():
    return given_bags(lambda x, l: [x * b.k for b in itertools.islice(filter(lambda b: b.q, l), 1)])


@program(calls=12, captures=2)
def none_left():
    def f(x, l):
        try:
            return x * next(filter(lambda b: b.q, l[:1])).k
        except StopIteration:
            return x
    return f, lambda i: (t(i), bags(i)), None


@program(calls=12, captures=2)
def class_asked_with_a_list():
    class Kind(type):
        def __instancecheck__(cls, instance):
            return instance.q
    class C(metaclass=Kind):
        pass
    return given_bags(lambda x, l: x * 2 if isinstance(l[0], C) else x)


# ---- classes that iterate over a list of theirs ----

@program(calls=12, captures=2)
def sum_of_collection():
    return lambda x, c: x * sum(c), lambda i: (t(i), Coll([i % 3, 1])), None


@program(calls=12, captures=2)
def greatest_of_collection():
    return lambda x, c: x * max(c), lambda i: (t(i), Coll([i % 3, 1])), None


@program(calls=12, captures=2)
def least_of_collection_by_key():
    return lambda x, c: x * min(c, key=lambda v: -v), lambda i: (t(i), Coll([i % 3, 1])), None


@program(calls=12, captures=2)
def collection_sorted():
    return lambda x, c: [x * v for v in sorted(c)], lambda i: (t(i), Coll([i % 3, 1])), None


@program(calls=12, captures=2)
def collection_reduced():
    return (lambda x, c: x * functools.reduce(lambda a, b: a * 2 + b, c)), lambda i: (t(i), Coll([i % 3, 1])), None


@program(calls=12, captures=2)
def collection_in_a_row():
    return lambda x, c: [x * v for v in itertools.chain(c, [3])], lambda i: (t(i), Coll([i % 3, 1])), None


@program(calls=12, captures=2)
def number_in_collection():
    return lambda x, c: x * 2 if 1 in c else x, lambda i: (t(i), Coll([i % 3, 5])), None


@program(calls=12, captures=2)
def object_in_collection():
    a, b = Bag(k=1), Bag(k=2)
    def f(x, o, c):
        return x * 2 if o in c else x
    return f, lambda i: (t(i), [a, b][i % 2], Coll([a])), None


# ---- operands that C code orders ----

@program(calls=12, captures=None, reason=4)
def greatest_decimal():
    def f(x, a, b):
        return x * 2, max(a, b)
    return f, lambda i: (t(i), decimal.Decimal(i % 3), decimal.Decimal(1)), None


@program(calls=12, captures=None, reason=4)
def greatest_date():
    days = [datetime.date(2020, 1, k + 1) for k in range(5)]
    def f(x, a, b):
        return x * 2, max([a, b])
    return f, lambda i: (t(i), days[i % 3], days[1]), None


@program(calls=12, captures=None, reason=4)
def greatest_text():
    def f(x, a, b):
        return x * 2, max(a, b)
    return f, lambda i: (t(i), Text(i % 3), Text(1)), None


@program(calls=12, captures=2)
def greatest_number_of_a_class():
    def f(x, a, b):
        return x * 2, max(a, b)
    return f, lambda i: (t(i), Number(i % 3), Number(1)), None


@program(calls=12, captures=2)
def greatest_level():
    levels = list(Level)
    def f(x, a, b):
        return x * max(a, b)
    return f, lambda i: (t(i), levels[i % 3], levels[1]), None


@program(calls=12, captures=2)
def levels_sorted():
    levels = list(Level)
    def f(x, l):
        l.sort()
        return x * l[0]
    return f, lambda i: (t(i), [levels[i % 3], levels[1]]), None


@program(calls=12, captures=2)
def sorted_by_number_of_a_class():
    def f(x, l):
        l.sort(key=lambda b: b.n)
        return x * l[0].k
    return f, lambda i: (t(i), [Bag(n=Number(i % 3), k=0.5), Bag(n=Number(1), k=2.0)]), None


@program(calls=12, captures=2)
def deep_tuples_sorted():
    def wrapped(n):
        for _ in range(6):
            n = (n,)
        return n
    def f(x, l):
        l.sort()
        return x * l[0][0][0][0][0][0][0]
    return f, lambda i: (t(i), [wrapped(i % 3), wrapped(1)]), None


@program(calls=12, captures=None, reason=4)
def greatest_by_constant_getter():
    f = lambda x, l: x * max(l, key=by_n).k
    return given_bags(f)


by_n = operator.attrgetter("n")


@program(calls=12, captures=2)
def greatest_of_generated_by_constant_getter():
    f = lambda x, l: x * max((b.p for b in l), key=first)[1]
    return given_bags(f)


first = operator.itemgetter(0)


@program(calls=12, captures=2)
def order_changed_by_the_class():
    class Ordered:
        def __init__(self, n):
            self.n = n

        def __lt__(self, other):
            return self.n < other.n
    def f(x, l):
        l.sort()
        return x * l[0].n
    def args(i):
        if i == 6:
            Ordered.__lt__ = lambda self, other: self.n > other.n
        return t(i), [Ordered(1), Ordered(2)]
    return f, args, None


# ---- iterators of C, and what is stored below them before they are used ----

def stored_below(make):
    def f(x, v):
        l = [1, 2, 3]
        it = make(l)
        l[1] = v
        return [x * n for n in it]
    return f, lambda i: (t(i), i % 3), None


@program(calls=12, captures=None, reason=8)
def store_below_chain():
    return stored_below(lambda l: itertools.chain(l, [1]))


@program(calls=12, captures=None, reason=8)
def store_below_islice():
    return stored_below(lambda l: itertools.islice(l, 1, None))


@program(calls=12, captures=None, reason=8)
def store_below_map_in_c():
    return stored_below(lambda l: map(abs, l))


@program(calls=12, captures=None, reason=8)
def store_below_map():
    return stored_below(lambda l: map(lambda n: n + 1, l))


@program(calls=12, captures=None, reason=8)
def store_below_filter():
    return stored_below(lambda l: filter(None, l))


@program(calls=12, captures=None, reason=8)
def store_below_compress():
    return stored_below(lambda l: itertools.compress([5, 6, 7], l))


@program(calls=12, captures=None, reason=8)
def store_below_accumulate():
    return stored_below(itertools.accumulate)


@program(calls=12, captures=None, reason=8)
def store_below_map_below_chain():
    return stored_below(lambda l: itertools.chain(map(abs, l)))


@program(calls=12, captures=None, reason=8)
def append_below_chain():
    def f(x, l, v):
        it = itertools.chain(l, [1])
        l.append(v)
        return [x * n for n in it]
    return f, lambda i: (t(i), [1, 2], i % 3), None


@program(calls=12, captures=None, reason=8)
def store_below_values():
    def f(x, d, v):
        it = itertools.chain(d.values())
        d["a"] = v
        return [x * n for n in it]
    return f, lambda i: (t(i), {"a": 1, "b": 2}, i % 3), None


@program(calls=12, captures=2)
def store_below_collection():
    def f(x, c, v):
        it = itertools.chain(c)
        c.items[1] = v
        return [x * n for n in it]
    return f, lambda i: (t(i), Coll([1, 2]), i % 3), None


@program(calls=12, captures=None, reason=8)
def store_below_collection_under_way():
    def f(x, c, v):
        it = itertools.islice(itertools.chain(c), 3)
        y = x * next(it)
        c.items[1] = v
        return y, [x * n for n in it]
    return f, lambda i: (t(i), Coll([1, 2, 3]), i % 3), None


@program(calls=12, captures=None, reason=8)
def store_into_list_being_chained():
    def f(x, a, b, v):
        out = []
        for n in itertools.chain.from_iterable(l for l in (a, b)):
            a[1] = v
            out.append(x * n)
        return out
    return f, lambda i: (t(i), [1, 2], [3], i % 3), None


@program(calls=12, captures=8)
def store_after_the_walk():
    def f(x, l, v):
        out = []
        for n in itertools.islice(itertools.chain(l, map(abs, l)), 3):
            out.append(x * n)
        l[1] = v
        l.append(sum(map(abs, l)))
        l.append(1)
        return out, l
    return f, lambda i: (t(i), [1, 2], 7), None


@program(calls=12, captures=8)
def store_into_what_is_handed_on():
    def f(x, ls, v):
        for l in filter(lambda l: len(l) > 1, ls):
            l.append(x * v)
        for l in itertools.islice((l for l in ls), 1):
            l.append(x)
        return ls
    return f, lambda i: (t(i), [[1, 2], [3], [4, 5]], 7), None


# ---- text ----

def functions():
    def make(name):
        def function():
            pass
        function.__qualname__ = name
        return function
    return [make("aa"), make("bb")]


@program(calls=12, captures=4)
def text_of_function():
    some = functions()
    def f(x, g):
        return x * 2, str(g)[:12], repr(g)[:12]
    return f, lambda i: (t(i), some[i // 4 % 2]), None


@program(calls=12, captures=None, reason=4)
def text_of_list_of_functions():
    some = functions()
    def f(x, l):
        return x * 2, str(l)[:13]
    return f, lambda i: (t(i), [some[i // 4 % 2]]), None


@program(calls=12, captures=None, reason=8)
def texts_of_functions():
    some = functions()
    def f(x, l):
        return [x * len(s) for s in map(str, l)]
    return f, lambda i: (t(i), [some[i // 4 % 2]]), None


@program(calls=12, captures=4)
def text_of_class():
    class K:
        pass
    def f(x):
        return x * 2, repr(K)
    def args(i):
        if i == 6:
            K.__qualname__ = "Z"
        return t(i),
    return f, args, None


@program(calls=12, captures=None, reason=4)
def text_of_keys():
    a, b = Bag(k=1), Bag(k=2)
    def f(x, d, s):
        return x * 2, str(d), str(set(d))
    def g(x, d):
        y, text, other = f(x, d, None)
        place = hex(id(next(iter(d))))[4:]
        return y, place in text, place in other
    g.target = f
    return g, lambda i: (t(i), {[a, b][i // 4 % 2]: 1}), None


main()
