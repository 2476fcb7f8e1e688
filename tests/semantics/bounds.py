# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Sizes, offsets and numbers that come with a call: what eager execution refuses of them is refused of graphs too."""
import terra
from _harness import main, program

BASE = terra.arange(10.0)
HUGE = 2**62


def refusing(make, captures=1):
    """`make` gives (f, the arguments of the calls): errors are part of what is compared."""
    def build():
        f, given = make()
        return f, lambda i: given[i], None
    build.__name__ = make.__name__
    program(calls=len(make()[1]), captures=captures)(build)
    return make


def never_captured(make):
    """What a graph knows of the memory doesn't tell what is there."""
    return refusing(make, captures=None)


@refusing
def window_at_an_offset():
    def f(x, o):
        return x.as_strided((2,), (1,), o) + 0
    return f, [(BASE, o) for o in (0, 1, 2, 3, 1, 2, 8, 9, 10, -1, 100, 10**5, HUGE, -HUGE, 0)]


@refusing
def window_of_a_size():
    def f(x, n):
        return x.as_strided((n,), (1,), 0) * 2
    return f, [(BASE, n) for n in (2, 3, 4, 5, 2, 3, 10, 11, 12, 2**40, HUGE, 2, 3)]


@refusing
def window_of_a_stride():
    def f(x, s):
        return x.as_strided((3,), (s,), 1) * 2
    return f, [(BASE, s) for s in (1, 2, 3, 4, 1, 2, 5, 9, -1, 2**40, HUGE, 4, 0)]


@never_captured
def window_of_a_part():
    def f(x):
        return x.as_strided((2,), (1,), 0) + 1
    return f, [(BASE[i % 3 + 2:i % 3 + 5],) for i in range(12)]


@refusing
def window_where_a_part_begins():
    def f(x):
        return x.as_strided((2,), (1,)) + 1
    return f, [(BASE[i % 3 + 2:i % 3 + 5],) for i in range(12)]


@never_captured
def window_of_smaller_memory():
    def f(x):
        return x.as_strided((12,), (1,), 0) + 1
    return f, [(terra.arange(20.0)[:10] if i < 6 else terra.arange(10.0 + i % 2),) for i in range(12)]


@refusing
def window_of_what_was_made_inside():
    def f(x, o):
        y = x * 2
        return y[1:].as_strided((2, 2), (1, 3), o) + 1, y.as_strided((2,), (4,)) - 1
    return f, [(BASE + i, o) for i, o in enumerate((0, 1, 2, 3, 0, 1, 5, 6, 7, -1, 0, 1))]


@never_captured
def window_of_a_transposed_tensor():
    def f(x):
        return x.as_strided((3,), (1,), 0) + 1
    return f, [((terra.arange(6.0).reshape(2, 3) + i).t(),) for i in range(12)]


@refusing
def write_through_a_window():
    def f(x, o):
        y = x * 2
        y[2:].as_strided((2,), (3,), o).mul_(10)
        x.as_strided((2,), (2,), o).add_(1)
        return y
    return f, [(BASE + i, o) for i, o in enumerate((0, 1, 2, 3, 0, 1, 6, 7, 8, -1, 0, 1))]


@refusing
def nothing_in_the_window():
    def f(x, n):
        return x.as_strided((n, 3), (1, 1), 0).shape, x.as_strided((0,), (1,), 3).sum()
    return f, [(BASE, n) for n in (0, 1, 2, 0, 1, 8, 9, 0)]


@refusing
def power_of_integers():
    def f(x, n):
        return x ** n
    return f, [(terra.arange(4) + i, n) for i, n in enumerate((1, 2, 3, 1, 2, 3, 2, 0, -1, -2, 2, -1))]


@refusing
def power_of_integers_by_a_reading():
    def f(x, y):
        return x ** y.sum().item()
    return f, [(terra.arange(4), terra.tensor([n, 0])) for n in (1, 2, 3, 1, 2, 3, -1, 2, -2)]


@refusing
def integers_divided():
    def f(x, n):
        return x // n, x % n
    return f, [(terra.arange(4) + i, n) for i, n in enumerate((1, 2, 3, 1, 2, 3, 0, 2, 0))]


@refusing
def no_integers_divided():
    def f(x, n):
        return x // n
    return f, [(terra.arange(0), n) for n in (1, 2, 3, 1, 2, 3, 0, 2, 0)]


@refusing
def memory_of_a_size():
    def f(n):
        return terra.empty(n).numel()
    return f, [(n,) for n in (1, 2, 3, 4, 5, 6, 2**61, 2**62, 2**63 - 1, 7, -1, 8)]


@refusing
def filled_memory_of_a_size():
    def f(n, x):
        return (terra.zeros(n, n) + 1).sum() + x
    return f, [(n, BASE) for n in (1, 2, 3, 4, 5, 6, 2**31, 2**32, HUGE, 2, -1, 3)]


@refusing
def result_too_large():
    def f(x, n):
        return x.expand(n, 10).contiguous()
    return f, [(BASE, n) for n in (1, 2, 3, 4, 1, 2, 2**59, 2**60, -1, 3)]


@refusing
def seen_and_never_made():
    def f(x, n):
        y = x.expand(n, 10)
        return y[n - 1], y.shape
    return f, [(BASE, n) for n in (1, 2, 3, 4, 1, 2, 2**40, 2**58, 0, 3)]


@refusing
def repeated():
    def f(x, n):
        return x.repeat(n, 2)
    return f, [(BASE, n) for n in (1, 2, 3, 4, 1, 2, -1, 0, 2**60, 3)]


@refusing
def bounds_of_dimensions():
    def f(x, d, i, n):
        return x.select(d, i), x.narrow(d, i, n), x.transpose(0, d)
    calls = [(0, 0, 1), (1, 2, 1), (0, 1, 1), (1, 1, 2), (0, 0, 2), (1, 0, 3), (2, 0, 1), (0, 2, 1), (1, 1, 3), (1, -1, 1),
             (-3, 0, 1), (0, 0, -1), (1, 0, 2)]
    return f, [(BASE[:6].reshape(2, 3), *c) for c in calls]


if __name__ == "__main__":
    main()
