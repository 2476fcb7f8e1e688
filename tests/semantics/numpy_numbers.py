# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Random numbers of numpy inside frames, shapes of its arrays, and look-ups that find nothing on a class."""
import copy

import terra
from _harness import Bag, main, program

try:
    import numpy as np
except ImportError:  # the programs below need it
    np = None


def t(i, n=3):
    return terra.arange(float(n)) + i


if np is not None:

    @program(calls=14, captures=9)
    def legacy_draws():
        state = np.random.RandomState(3)
        def f(x, k):
            return x * state.rand() + state.uniform(-k, k), state.randint(1, 9), state.normal()
        def args(i):
            if i == 7:
                state.seed(5)
            return t(i), 1.0 + i
        return f, args, Bag(after=lambda: state.rand())

    @program(calls=14, captures=8)
    def global_draws():
        np.random.seed(11)
        def f(x):
            return x * float(np.random.rand()) + np.random.randn(), np.random.randint(100)
        return f, lambda i: (t(i),), None

    @program(calls=14, captures=8)
    def generator_draws():
        one = np.random.default_rng(2)
        two = np.random.Generator(one.bit_generator)
        def f(x):
            a, b = one.random(), two.normal(1.0, 2.0)
            return x * a + b, one.random(), a > 0.5
        return f, lambda i: (t(i),), None

    @program(calls=20, captures=9)
    def drawn_and_not_used():
        state = np.random.RandomState(4)
        def f(x, k):
            p = state.rand()
            if p > 0.5:
                return x * 2, p
            return x + k, p
        return f, lambda i: (t(i), i), None

    @program(calls=12, captures=None)
    def draws_of_arrays():
        state = np.random.RandomState(4)
        def f(x):
            return x * float(state.rand(2).sum())
        return f, lambda i: (t(i),), None

    @program(calls=12, captures=6)
    def sizes_of_arrays():
        arrays = [np.ones((3, 2), dtype=np.float32), np.ones((3, 5), dtype=np.float32)]
        def f(x, a):
            rows, columns = a.shape
            return x * rows + columns, a.ndim, a.size
        return f, lambda i: (t(i), arrays[i // 3 % 2]), None

    @program(calls=12, captures=6)
    def reshaped_between():
        o = Bag(a=np.ones((3, 4), dtype=np.float32))
        def f(x):
            return x * o.a.shape[0] + len(o.a.shape)
        def args(i):
            if i % 4 == 3:
                o.a.shape = (2, 6) if i == 3 else (12,)
            return t(i),
        return f, args, None


@program(calls=12, captures=8)
def copies_of_containers():
    o = Bag(rates=[0.5, 2.0])
    def f(x, n):
        d = copy.copy({"a": x, "n": n})
        d["a"] = d["a"] * copy.copy(o.rates)[0]
        rates = copy.copy(o.rates)
        rates.append(n)
        return d, rates, rates is o.rates, copy.copy((x, 1))
    def args(i):
        o.rates[0] = i * 0.5
        return t(i), i
    return f, args, o


@program(calls=12, captures=6)
def attribute_appears_on_the_class():
    class Late:
        pass
    def f(x, o):
        return x * getattr(type(o), "factor", 2) + hasattr(Late, "other")
    def args(i):
        if i == 4:
            Late.factor = 5
        if i == 8:
            Late.other = 1
        return t(i), Late()
    return f, args, None


@program(calls=12, captures=8)
def strict_zip():
    def f(xs, ys):
        return sum(a * b for a, b in zip(xs, ys, strict=True))
    return f, lambda i: ([t(i), t(1)] + [t(2)] * (i % 2), [1, 2] + [3] * (i % 2)), None


@program(calls=12, captures=0)
def strict_zip_of_other_lengths():
    def f(xs, ys):
        total = xs[0] * 0
        try:
            for a, b in zip(xs, ys, strict=True):
                total = total + a * b
        except ValueError as e:
            return total, str(e)
        return total
    return f, lambda i: ([t(i), t(1)], [1, 2, 3][:1 + i // 4]), None


@program(calls=12, captures=9)
def device_and_type():
    def f(x):
        y = x.double() if x.device.type == "cpu" and x.dtype.is_floating_point else x
        return y * x.dtype.itemsize, str(x.dtype), x.device.type
    return f, lambda i: (t(i),), None


if __name__ == "__main__":
    main()
