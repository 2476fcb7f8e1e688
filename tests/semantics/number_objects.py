# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Objects that stand for numbers: scalars of numpy, members of an IntEnum, subclasses of int, float and str."""
import enum
import itertools
import operator
from collections import OrderedDict, deque

import numpy as np

import terra
import terra.nn.functional as F
from _harness import Bag, main, program


def t(i, n=3):
    return terra.arange(float(n)) + i


class Level(enum.IntEnum):
    A = 1
    B = 2
    C = 3


class Reduction(str, enum.Enum):
    SUM = "sum"
    MEAN = "mean"
    NONE = "none"


class Word(str):
    pass


class Odd(int):
    def __index__(self):
        return 1

    def __int__(self):
        return 7


class Strange(float):
    def __float__(self):
        return 100.0

    def __mul__(self, other):
        return 3.0


@program(calls=12, captures=8, recordings=1)
def factor():
    return (lambda x, s: x * s + s), lambda i: (t(i), np.float32(i + 0.5)), None


@program(calls=12, captures=8, recordings=1)
def attribute():
    o = Bag(s=np.float64(1))
    def f(x):
        return x * o.s
    def args(i):
        o.s = np.float64(i // 2)
        return t(i),
    return f, args, None


@program(calls=12, captures=4)
def type_changes():
    kinds = [np.float32, np.float64, float, int, np.int64, np.int8]
    return (lambda x, s: x * s), lambda i: (t(i), kinds[i // 2 % 6](i)), None


@program(calls=12, captures=6)
def index():
    return (lambda x, s: x[s] * 2), lambda i: (t(i), np.int64(i % 3)), None


@program(calls=12, captures=6)
def sizes():
    return (lambda x, s: terra.zeros(s) + terra.ones(2, s).sum()), lambda i: (t(i), np.int64(i % 3 + 1)), None


@program(calls=12, captures=6)
def dimension():
    return (lambda x, d: x.sum(dim=d)), lambda i: (t(i, 4).reshape(2, 2), np.int64(i % 2)), None


@program(calls=12, captures=6)
def items_of_a_list():
    def args(i):
        return t(i, 6), [np.int64(2), np.int64(3)] if i % 2 else [np.int64(3), np.int64(2)]
    return (lambda x, d: x.view(d[0], d[1]) * 2), args, None


@program(calls=12, captures=6)
def list_as_a_whole():
    def args(i):
        return t(i, 6), [np.int64(2), np.int64(3)] if i % 2 else [np.int64(3), np.int64(2)]
    return (lambda x, d: x.view(d) * 2), args, None


@program(calls=12, captures=6)
def store():
    def f(x, s):
        y = x * 1
        y[s] = 9
        y[int(s)] += float(s)
        return y
    return f, lambda i: (t(i), np.int64(i % 3)), None


@program(calls=12, captures=8, recordings=1)
def conversions():
    return (lambda x, s, k: (x * float(s) + int(k), bool(s))), lambda i: (t(i), np.float32(i), np.int64(i)), None


@program(calls=12, captures=0)
def arithmetic():
    def f(x, s, k):
        q = s * 2 + k
        return x * q, q, s + 1, k // 2, -s, abs(s), round(s, 1), k % 3, s > 2
    return f, lambda i: (t(i), np.float32(i / 2), np.int64(i)), None


@program(calls=12, captures=8, recordings=1)
def enum_as_factor_and_index():
    return (lambda x, s: x * s + x[s - 1] * 1), lambda i: (t(i), Level(i % 3 + 1)), None


@program(calls=12, captures=6)
def enum_as_size():
    return (lambda x, s: terra.ones(s, 2).sum() + x), lambda i: (t(i), Level(i % 3 + 1)), None


@program(calls=12, captures=6)
def enum_compared():
    o = Bag(mode=Level.A)
    def f(x):
        if o.mode == Level.B:
            return x * 2
        if o.mode > Level.B:
            return x * 3
        return x * o.mode + 1
    def args(i):
        o.mode = Level(i % 3 + 1)
        return t(i),
    return f, args, None


@program(calls=12, captures=6)
def string_value_of_an_enum():
    return (lambda x, s: F.mse_loss(x, x * 2, reduction=s.value)), lambda i: (t(i), list(Reduction)[i % 3]), None


@program(calls=12, captures=0)
def enum_as_string():
    return (lambda x, s: F.mse_loss(x, x * 2, reduction=s)), lambda i: (t(i), list(Reduction)[i % 3]), None


@program(calls=12, captures=0)
def string_of_a_subclass():
    words = Word("ij,jk->ik"), Word("ij,jk->ki")
    return (lambda x, s: terra.einsum(s, x, x)), lambda i: (t(i, 4).reshape(2, 2), words[i % 2]), None


@program(calls=12, captures=0)
def subclasses_with_conversions_of_their_own():
    def f(x, s, k):
        return x * s, x * k, float(k), int(s), k * 2, s + 1, max(k, 1), round(k), s == 3, k < 4, "%d" % s, f"{k}"
    return f, lambda i: (t(i), Odd(i), Strange(i)), None


@program(calls=12, captures=0)
def numbers_in_lists_of_the_program():
    o = Bag(p=[1, 1], v=0.0, d=[0, 1], lo=0, hi=1.0, s=[1, 2])
    def f(x):
        moved = x.reshape(1, 3).permute(o.d).clamp(o.lo, o.hi)
        return F.pad(x, o.p, value=o.v), moved, x.split(o.s), terra.full((2,), o.v), x.clamp(min=o.lo)
    def args(i):
        o.p[0], o.v, o.d[:], o.lo = i % 3, i * 1.0, [i % 2, 1 - i % 2], i % 4 - 1
        o.s[:] = [1 + i % 2, 2 - i % 2]
        return t(i),
    return f, args, None


class Whole(int):
    pass


def whole_numbers(i):
    kind = [Whole, lambda n: list(Place)[n], np.int64, Whole][i // 6]
    return kind(i // 2 % 3)


class Place(enum.IntEnum):
    FIRST = 0
    SECOND = 1
    THIRD = 2


@program(calls=24, captures=9)
def places_to_store_to():
    def f(x, xs, s):
        xs[s] = 7
        mine = deque([1, 2, 3])
        mine[s] = 5
        return x * xs[0], mine
    return f, lambda i: (t(i), [1, 2, 3], whole_numbers(i)), None


@program(calls=24, captures=9)
def places_to_take_from_and_to_insert_at():
    def f(x, xs, s):
        taken = xs.pop(s)
        xs.insert(s, x)
        mine = [4, 5, 6]
        return taken, mine.pop(s), mine, operator.getitem((1, 2, 3), s)
    return f, lambda i: (t(i), [1, 2, 3], whole_numbers(i)), None


@program(calls=24, captures=4)
def counts():
    def f(x, xs, s):
        for n in range(s):
            x = x + n
        for n in range(1, s, 1):
            x = x * 2
        return x
    return f, lambda i: (t(i), [1, 2, 3], whole_numbers(6 + i % 12 if i < 20 else i)), None


@program(calls=24, captures=9)
def starts_of_enumerations():
    def f(x, xs, s):
        return [x * n + y for n, y in enumerate(xs, s)], list(enumerate(xs, start=s))
    return f, lambda i: (t(i), [1, 2, 3], whole_numbers(i)), None


@program(calls=24, captures=9)
def rotations_and_bounds():
    def f(x, q, s):
        q.rotate(s)
        q.append(x)
        return deque([1, 2, 3], s), deque([1, 2, 3], maxlen=s), list(itertools.repeat(x, s))
    return f, lambda i: (t(i), deque([1, 2, 3]), whole_numbers(i)), None


@program(calls=24, captures=0)
def flags():
    def f(x, xs, d, s):
        xs.sort(reverse=s)
        d.move_to_end("b", s)
        more = list(itertools.product([1, 2], repeat=s))
        return x * xs[0], d.popitem(s), more
    return f, lambda i: (t(i), [2, 1, 3], OrderedDict(a=1, b=2, c=3), whole_numbers(i)), None


@program(calls=12, captures=None)
def truth_of_objects():
    def f(x, xs, q):
        try:
            pairs = list(zip(xs, [1, 2], strict=q))
        except ValueError:
            pairs = None
        return x * 2, pairs
    return f, lambda i: (t(i), [1, 2, 3], [1] if i > 5 else []), None


@program(calls=24, captures=3)
def looked_for_in_ranges_and_strings():
    def f(x, s, w):
        return x * 2, s in range(2), s in range(0, 9, 2), w in "abc"
    def args(i):
        word = Word(["a", "z"][i % 2]) if i > 20 else ["a", "z"][i // 20 % 2]
        return t(i), whole_numbers(i), word
    return f, args, None


@program(calls=12, captures=4)
def booleans_of_numpy():
    def f(x, b):
        x = x * b + terra.full((3,), b) + (x > b)
        return x.clamp(min=b), x.pow(b), terra.arange(b)
    return f, lambda i: (t(i), np.bool_(i // 3 % 2)), None


class Indexed:
    def __init__(self, n):
        self.n = n

    def __index__(self):
        return self.n


@program(calls=12, captures=4)
def numbers_that_a_method_gives():
    def f(x, s):
        return x * s, x > s, s - x
    return f, lambda i: (terra.arange(3), Indexed(i // 3 % 3)), None


class Sizes(list):
    pass


class Slow(tuple):
    def __getitem__(self, i):
        return super().__getitem__(i)


@program(calls=12, captures=0)
def sizes_in_lists_of_the_program():
    def f(x, sizes):
        return terra.ones(sizes) + x.sum(), x[:1].expand(sizes), terra.full(sizes, 1)
    return f, lambda i: (t(i), [Sizes, Slow][i // 6]([i // 3 % 2 + 1, 2])), None


if __name__ == "__main__":
    main()
