# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Members of enums, dtypes and classes as keys, on their own and in tuples."""
import enum
import typing

import terra
from _harness import Bag, main, program


def t(i, n=3):
    return terra.arange(float(n)) + i


class Color(enum.Enum):
    RED = 1
    BLUE = 2
    GREEN = 3


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


class Loud(enum.Enum):
    A = 1
    B = 2
    hashed = []

    def __hash__(self):
        Loud.hashed.value.append(self._name_)
        return 7


class Same(enum.Enum):
    A = 1
    B = 2

    def __eq__(self, other):
        return True

    __hash__ = enum.Enum.__hash__


@program(calls=12, captures=8)
def member_as_key():
    table = {Color.RED: 2.0, Color.BLUE: 3.0}
    def f(x, c):
        return x * table[c], c is Color.RED, c == Color.BLUE, c.name, c.value
    return f, lambda i: (t(i), Color.RED if i % 2 else Color.BLUE), table


@program(calls=12, captures=8)
def values_change():
    table = {Color.RED: 2.0, Color.BLUE: 3.0}
    def f(x, c):
        return x * table[c]
    def args(i):
        table[Color.RED] = i * 1.0
        return t(i), Color.RED
    return f, args, table


@program(calls=12, captures=5)
def members_come_and_go():
    table = {Color.RED: t(1)}
    def f(x):
        if Color.BLUE in table:
            x = x * table[Color.BLUE]
        return x + table.get(Color.GREEN, 1) + table[Color.RED]
    def args(i):
        if i == 4:
            table[Color.BLUE] = t(2)
        if i == 7:
            table[Color.GREEN] = 5
        if i == 9:
            del table[Color.BLUE]
        return t(i),
    return f, args, table


@program(calls=12, captures=8)
def all_members():
    table = {Color.RED: t(1), Color.BLUE: t(2), Color.GREEN: t(3)}
    def f(x):
        total = 0
        for c in Color:
            total = total + x * table[c]
        for c, value in table.items():
            total = total + value * c.value
        return total, len(table), list(table), Color["RED"] is Color.RED
    return f, lambda i: (t(i),), table


@program(calls=12, captures=8)
def counted():
    counts = {Color.RED: 0}
    def f(x, c):
        counts[c] = counts.get(c, 0) + 1
        return x * counts[c]
    return f, lambda i: (t(i), Color.RED), counts


@program(calls=12, captures=6)
def added_and_removed():
    table = {}
    def f(x, c):
        table[c] = x
        y = table.pop(c) + 1
        table.setdefault(c, y)
        made = {Color.RED: x, c: y}
        return made, len(made)
    return f, lambda i: (t(i), list(Color)[i // 4]), table


@program(calls=12, captures=6)
def in_tuples():
    table = {(Color.RED, 1): t(1), (Color.BLUE, (2, "a")): t(2), (Color.RED, terra.float32): t(3)}
    def f(x, c, n):
        return x * table[c, n] + table[(Color.BLUE, (2, "a"))] + table[Color.RED, x.dtype], (c, 7) in table
    def args(i):
        if i == 6:
            table[(Color.RED, 1)] = t(9)
            table[(Color.RED, 7)] = 1
        return t(i), Color.RED, 1
    return f, args, table


@program(calls=14, captures=6)
def cache_by_shape_and_dtype():
    cache = {}
    def mask(n, dtype, kind):
        key = (n, dtype, kind)
        if key not in cache:
            cache[key] = terra.ones(n, n, dtype=dtype).tril() if kind is Color.RED else terra.zeros(n, n, dtype=dtype)
        return cache[key]
    def f(x, kind):
        return x * mask(x.shape[0], x.dtype, kind)
    return f, lambda i: (terra.ones(2 + i % 2, 2 + i % 2) * i, Color.RED if i < 9 else Color.BLUE), cache


@program(calls=12, captures=0)
def int_members_are_their_numbers():
    table = {Level.LOW: 1.0, 5: 2.0}
    def f(x, level):
        return x * table[level] + table[1], level in table, table.get(Level.HIGH)
    return f, lambda i: (t(i), Level.LOW if i % 2 else Level.HIGH), table


@program(calls=12, captures=None)
def hashed_by_the_program():
    table = {Loud.A: 1.0, Loud.B: 2.0}
    Loud.hashed.value.clear()
    def f(x, c):
        return x * table[c], len(Loud.hashed.value)
    return f, lambda i: (t(i), Loud.A if i % 2 else Loud.B), Loud.hashed.value


@program(calls=12, captures=0)
def equal_by_the_program():
    table = {Same.A: 1.0}
    def f(x, c):
        return x * table.get(c, 3.0)
    return f, lambda i: (t(i), Same.A if i % 2 else Same.B), table


@program(calls=12, captures=0)
def members_in_sets():
    some = {Color.RED}
    def f(x, c):
        if c in some:
            x = x * 2
        return x, c in {Color.RED, Color.BLUE}, c in (Color.RED, Color.GREEN)
    def args(i):
        if i == 6:
            some.add(Color.BLUE)
        return t(i), list(Color)[i % 3]
    return f, args, None


@program(calls=12, captures=6)
def attribute_is_another_member():
    o = Bag(mode=Color.RED)
    def f(x):
        if o.mode is Color.RED:
            return x * 2
        return x * o.mode.value
    def args(i):
        o.mode = list(Color)[i // 4]
        return t(i),
    return f, args, None


@program(calls=12, captures=6)
def member_written_back():
    o = Bag(mode=Color.RED)
    def f(x):
        o.mode = Color.BLUE if o.mode is Color.RED else Color.RED
        return x * o.mode.value
    return f, lambda i: (t(i),), o


class Mode(str, enum.Enum):
    TRAIN = "train"
    EVAL = "eval"


class Place(typing.NamedTuple):
    layer: int
    name: str


@program(calls=12, captures=8)
def members_that_are_numbers():
    table = {Level.LOW: 2.0, Level.HIGH: 3.0}
    def f(x, level):
        return x * table[level] + table[1], {level: x}, Level.HIGH in table, table.get(2, 0)
    return f, lambda i: (t(i), Level.HIGH if i % 2 else Level.LOW), table


@program(calls=14, captures=8)
def members_that_are_strings():
    table = {Mode.TRAIN: 2.0, "eval": 3.0}
    def f(x, mode):
        if mode == Mode.TRAIN:
            x = x * 2
        if mode != "train":
            x = x + 1
        table[mode] += 1
        return x * table[mode] + table["train"], mode.value, list(table)
    return f, lambda i: (t(i), Mode.TRAIN if i % 2 else Mode.EVAL), table


@program(calls=12, captures=8)
def named_tuples():
    table = {Place(1, "a"): 2.0}
    def f(x, place):
        table[Place(2, "b")] = x * table[Place(1, "a")]
        table[place] = table[2, "b"] + 1
        return table[place] * 2, Place(1, "a") in table, table.get(Place(0, "a"))
    return f, lambda i: (t(i), Place(i % 2, "c")), table


@program(calls=12, captures=8)
def keys_of_named_tuples_change():
    table = {Place(1, "a"): 2.0}
    def f(x):
        return [x * v for v in table.values()], list(table)
    def args(i):
        if i == 5:
            table.clear()
            table[1, "a"] = 3.0
        return t(i),
    return f, args, table


@program(calls=12, captures=3)
def not_a_number():
    """Containers look at identity first."""
    one, other = float("nan"), float("nan")
    table, items = {one: 1.0}, [one]
    def f(x, n):
        return x * table.get(n, 3.0), n in table, n in items, [n] == items, {n: 1}.get(one)
    return f, lambda i: (terra.ones(2) * i, one if i < 8 or i % 2 else other), None


@program(calls=12, captures=8)
def tuples_are_kept_themselves():
    """Which object is the key is seen: the one that was given."""
    table, known = {}, set()
    def f(x, k):
        known.add(k)
        table[k] = x
        table.setdefault(k[1], x)
        return {k: x * 2}, dict([(k, x)]), [key for key in table]
    def args(i):
        table.clear()
        known.clear()
        return t(i), tuple([1, tuple(["a", 2])])
    return f, args, (table, known)


@program(calls=12, captures=8)
def tuples_made_inside_are_kept_themselves():
    table = {}
    def f(x, n):
        k = (n, "a")
        table[k] = x
        return k, x * 2
    def args(i):
        table.clear()
        return t(i), 3
    return f, args, table


@program(calls=12, captures=8)
def the_first_of_equal_tuples_is_kept():
    table = {}
    def f(x, k, other):
        table[k] = x
        table[other] = x * 2
        return x + 1
    def args(i):
        table.clear()
        return t(i), tuple([1, 2]), tuple([1, 2])
    return f, args, table


if __name__ == "__main__":
    main()
