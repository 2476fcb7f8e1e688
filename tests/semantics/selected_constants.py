# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=assert=*@4
"""Branches on tensor values whose sides leave different numbers and strings: what follows is one graph all the same, and
each value is the one that the way there has left."""
import terra

from _branches import rows
from _harness import Bag, main, program


@program(calls=60, captures=44, recordings=6)
def scales_that_differ():
    def f(x, y, z):
        if x.sum() > 0:
            scale = 2.0
        else:
            scale = 0.5
        if y.sum() > 0:
            y = y * scale
        else:
            y = y - scale
        if z.sum() > 0:
            return y * scale + z
        return y - z * scale
    return f, lambda i: rows(i, 3), None


@program(calls=60, captures=44, recordings=8)
def labels_that_differ():
    def f(x, y, z):
        label = "big" if x.sum() > 0 else "small"
        a = y * 2 if y.sum() > 0 else y - 1
        other = "more" if z.sum() > 0 else "less"
        if a.sum() > 1:
            a = a + z
        else:
            a = a * z
        return label, a, other
    return f, lambda i: rows(i, 3), None


@program(calls=80, captures=60, recordings=6)
def counted_on_some_ways():
    def f(x, y, z, w):
        n = 0
        if x.sum() > 0:
            n = n + 1
        if y.sum() > 0:
            n = n + 10
        if z.sum() > 0:
            n += 100
        if w.sum() > 0:
            n += 1000
            return n, w * 2
        return n, w
    return f, lambda i: rows(i, 4), None


@program(calls=60, captures=40, recordings=10)
def sums_of_what_differs():
    def f(x, y, z):
        rate = 0.5 if x.sum() > 0 else 0.25
        step = 3 if x.sum() > 1 else 4
        if y.sum() > 0:
            rate = rate * 2 + step
        else:
            step = step - 1
        if z.sum() > 0:
            z = z * rate - step
        else:
            z = z / step + rate
        return z, rate, step
    return f, lambda i: rows(i, 3), None


@program(calls=60, captures=40, recordings=10, cut=True)
def identity_of_what_differs():
    big, small = 1e10 + 1, 3e-5

    def f(x, y, z):
        kept = big if x.sum() > 0 else small
        y = y * 2 if y.sum() > 0 else y - 3
        z = z * 2 if z.sum() > 0 else z - 3
        return y + z, kept
    def g(x, y, z):
        a, kept = f(x, y, z)
        return a, kept is big, kept is small
    g.target = f
    return g, lambda i: rows(i, 3), None


@program(calls=60, captures=20)
def decides_later():
    def f(x, y, z):
        mode = True if x.sum() > 0 else False
        n = 2 if y.sum() > 0 else 3
        if z.sum() > 0:
            z = z * 2
        if mode:
            z = z + 1
        return [z] * n
    return f, lambda i: rows(i, 3), None


@program(calls=60, captures=20)
def sizes_later():
    def f(x, y, z):
        n = 2 if x.sum() > 0 else 3
        y = y * 2 if y.sum() > 0 else y - 1
        if z.sum() > 0:
            return y[:n] * 2, terra.zeros(n)
        out = 0
        for k in range(n):
            out = out + y * k
        return out, z.view(-1)[n - 1]
    return f, lambda i: rows(i, 3), None


@program(calls=60, captures=20)
def keys_later():
    table = {"a": 1.5, "b": 2.5}

    def f(x, y, z):
        key = "a" if x.sum() > 0 else "b"
        y = y * 2 if y.sum() > 0 else y - 1
        if z.sum() > 0:
            return y * table[key], f"{key}!"
        return y, key + "?", key == "a", key in ("b", "c")
    return f, lambda i: rows(i, 3), table


@program(calls=60, captures=20)
def kinds_that_differ():
    def f(x, y, z):
        k = 2 if x.sum() > 0 else 2.0
        m = None if x.sum() > 0 else 3
        y = y * 2 if y.sum() > 0 else y - 1
        if z.sum() > 0:
            return y.to(terra.int64) * k, m, k
        return y * k, m, k
    return f, lambda i: rows(i, 3), None


@program(calls=60, captures=44, recordings=6)
def bools_that_differ():
    def f(x, y, z):
        big = x.sum() > 0
        flag = True if big else False
        y = y * 2 if y.sum() > 0 else y - 1
        if z.sum() > 0:
            return y, flag, not flag
        return y, flag + 1
    return f, lambda i: rows(i, 3), None


@program(calls=60, captures=40, recordings=8)
def two_names_for_one():
    def f(x, y, z):
        if x.sum() > 0:
            a = b = 7.5
        else:
            a, b = 8.5, 9.5
        y = y * a if y.sum() > 0 else y - a
        if z.sum() > 0:
            b = a
        if (y + z).sum() > 0:
            return y * b, a, b
        return y - b, b, a
    return f, lambda i: rows(i, 3), None


@program(calls=80, captures=56, recordings=8)
def overwritten_on_one_side():
    def f(x, y, z, w):
        k = 1.0
        if x.sum() > 0:
            k = 2.0
        if y.sum() > 0:
            k = 3.0
        if z.sum() > 0:
            w = w * k
        k2 = k if w.sum() > 0 else k + 1
        if w.max() > 2:
            return w + k2, k
        return w - k2, k
    return f, lambda i: rows(i, 4), None


@program(calls=80, captures=50, recordings=10)
def arguments_among_them():
    def f(x, y, z, n):
        k = n if x.sum() > 0 else n + 1
        m = n * 2
        y = y * k if y.sum() > 0 else y - m
        if z.sum() > 0:
            return y * m, k
        return y + k, m
    return f, lambda i: rows(i, 3) + (i // 2,), None


@program(calls=80, captures=40)
def other_sums_of_one_argument():
    def f(x, y, z, n):
        k = n + 1 if x.sum() > 0 else n + 10
        y = y * 2 if y.sum() > 0 else y - 1
        z = z + y if z.sum() > 0 else z - y
        return z, k
    return f, lambda i: rows(i, 3) + (i // 2,), None


@program(calls=80, captures=30)
def numbers_made_of_truths():
    def f(x, y, z):
        n = 2 if x.sum() > 0 else 3
        y = y * 2 if y.sum() > 0 else y - 1
        above = float(y.sum() > n) * n
        low = int(z.sum() < 0) + n
        y = y + 1 if (y + z).sum() > 0 else y
        return y - above, above, low, n
    return f, lambda i: rows(i, 3), None


@program(calls=80, captures=30)
def several_truths_of_one_instruction():
    def f(x, y, z):
        n = 2 if x.sum() > 0 else 3
        biggest = max(x.sum(), y.sum(), z.sum())
        order = sorted([x.sum(), y.sum(), z.sum()])
        some = any([x.sum() > n, y.sum() > n, z.sum() > n])
        y = y + 1 if (y + z).sum() > 0 else y - 1
        return y, biggest, order, some, n
    return f, lambda i: rows(i, 3), None


@program(calls=80, captures=20)
def truths_between_rounds_of_a_generator():
    def f(x, y, z):
        biggest = max(q.sum() for q in (x, y, z))
        least = min((q * 2 for q in (x, y, z)), key=lambda t: t.sum())
        count = sum(1 for q in (x, y, z) if q.sum() > 0)
        some = any(q.sum() > 5 for q in (x, y, z))
        return (x + 1 if biggest > 20 else x - 1), biggest, least, count, some
    return f, lambda i: rows(i, 3), None


@program(calls=60, captures=24)
def division_by_what_differs():
    def f(x, y, z, n):
        k = n if x.sum() > 0 else n - 1
        y = y * 2 if y.sum() > 0 else y - 1
        if z.sum() > 0:
            r = 1 / k
            y = y + 1
        else:
            r = k
        if (y + z).sum() > 0:
            return y, r
        return y * 2, r
    return f, lambda i: rows(i, 3) + (i % 5,), None


@program(calls=80, captures=56, recordings=8)
def below_a_call():
    def scaled(y, scale, name):
        if y.sum() > 0:
            y = y * scale
        else:
            y = y - scale
        return y, name + "d"

    def f(x, y, z):
        scale, name = (2.0, "double") if x.sum() > 0 else (0.5, "halve")
        y, name = scaled(y, scale, name)
        z, also = scaled(z, scale * 2, "z")
        return y + z, name, also, scale
    return f, lambda i: rows(i, 3), None


@program(calls=80, captures=30)
def facts_that_change():
    def f(x, y, z, state):
        k = state.k if x.sum() > 0 else "none"
        y = y * 2 if y.sum() > 0 else y - 1
        z = z + y if z.sum() > 0 else z - y
        return z, k
    state = Bag(k="first")

    def args(i):
        state.k = "first" if i % 20 < 12 else "second"
        return rows(i, 3) + (state,)
    return f, args, state


@program(calls=60, captures=44, recordings=6)
def big_numbers():
    def f(x, y, z):
        n = 1 << 70 if x.sum() > 0 else -(1 << 65)
        m = float("inf") if x.sum() > 0 else -0.0
        y = y * 2 if y.sum() > 0 else y - 1
        n = n + 1 if z.sum() > 0 else n - 1
        if (y + z).sum() > 0:
            return y, n, m
        return z + m, m, n
    return f, lambda i: rows(i, 3), None


@program(calls=60, captures=30)
def results_of_other_kinds():
    def f(x, y, z):
        code = 1 if x.sum() > 0 else 2
        if y.sum() > 0:
            return code
        if z.sum() > 0:
            return (code, z * code), [code], {"code": code}
        return str(code), z
    return f, lambda i: rows(i, 3), None


@program(calls=60, captures=36, recordings=10)
def stored_at_the_end():
    def f(x, y, z, state):
        label = "big" if x.sum() > 0 else "small"
        n = 1 if y.sum() > 0 else 2
        z = z * 2 if z.sum() > 0 else z - 1
        state.label = label
        state.n += n
        state.log.append((label, n))
        return z
    state = Bag(label="", n=0, log=[])
    return f, lambda i: rows(i, 3) + (state,), state


main()
