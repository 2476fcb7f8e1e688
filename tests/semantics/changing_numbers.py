# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Numbers that change between calls: after the first miss they are inputs, wherever they were read."""
import math

import terra
from _harness import Bag, main, program
from terra import nn


class Slots:
    __slots__ = ("n", "rate")

    def __init__(self):
        self.n, self.rate = 1, 0.5


def t(i, n=3):
    return terra.arange(float(n)) + i


@program(calls=12, captures=9)
def argument():
    def f(x, n):
        return x * n + n
    return f, lambda i: (t(i), i * i), None


@program(calls=12, captures=9)
def keyword_with_default():
    def f(x, n=2.5):
        return x * n
    return lambda x, **k: f(x, **k), lambda i: (t(i),), None


@program(calls=12, captures=9)
def attribute_read():
    o = Bag(lr=0.5)
    def f(x):
        return x * o.lr
    def args(i):
        o.lr = 0.5 / (1 + i)
        return t(i),
    return f, args, o


@program(calls=12, captures=9)
def attribute_counter():
    o = Bag(n=0)
    def f(x):
        o.n += 1
        return x / o.n
    return f, lambda i: (t(i),), o


@program(calls=12, captures=9)
def slot_counter():
    o = Slots()
    def f(x):
        o.n += 2
        o.rate *= 0.5
        return x * o.rate + o.n
    return f, lambda i: (t(i),), o


@program(calls=12, captures=8)
def dict_item():
    group = {"lr": 0.1, "step": 0}
    def f(x):
        group["step"] += 1
        return x * (group["lr"] / group["step"])
    def args(i):
        group["lr"] = 0.1 * (i + 1)
        return t(i),
    return f, args, group


@program(calls=12, captures=9)
def list_items():
    sizes = [1, 2, 3]
    def f(x):
        total = x
        for s in sizes:
            total = total + s
        return total
    def args(i):
        sizes[i % 3] += i
        return t(i),
    return f, args, sizes


@program(calls=12, captures=9)
def closure_cell():
    n = 0
    def f(x):
        nonlocal n
        n += 1
        return x * n
    return f, lambda i: (t(i),), None


@program(calls=12, captures=9)
def module_global():
    space = {}
    exec("count = 0\ndef f(x):\n    global count\n    count += 1\n    return x * count", space)
    return space["f"], lambda i: (t(i),), None


@program(calls=12, captures=9)
def class_counter():
    class Thing:
        made = 0
    def f(x):
        return x + Thing.made
    def args(i):
        if i > 6:
            Thing.made = 3
        return t(i),
    return f, args, None


@program(calls=14, captures=10)
def objects_below_one_root():
    net = Bag(layers=[Bag(n=k) for k in range(6)])
    def f(x):
        for layer in net.layers:
            layer.n += 1
            x = x * 0.5 + layer.n
        return x
    return f, lambda i: (t(i),), net


@program(calls=14, captures=9)
def different_roots():
    a, b = Bag(k=1, v=0.5), Bag(k=10, v=0.25)
    def f(p, q, x):
        return x * p.k + q.k * p.v - q.v
    def args(i):
        a.k, b.v = i, i / 3
        return a, b, t(i)
    return f, args, None


@program(calls=14, captures=10)
def only_feeds_tensor_ops():
    o = Bag(p=0.0, decay=0.9)
    def f(x):
        o.p = 1 - (1 - o.p) * o.decay
        return terra.clamp(x, min=o.p, max=o.p * 4).add(x, alpha=o.p)
    return f, lambda i: (t(i) * 0.3,), o


@program(calls=14, captures=10)
def power_of_a_rate():
    o = Bag(step=0)
    def f(x, beta):
        o.step += 1
        return x / (1 - beta ** o.step)
    return f, lambda i: (t(i), 0.5 if i % 2 else 0.9), o


@program(calls=12, captures=6)
def power_that_turns_complex():
    def f(x, base, e):
        y = base ** e
        return x * 2, y
    return f, lambda i: (t(i), [2.0, 3.0, -8.0][i % 3], [0.5, 2.0, 1 / 3][i % 3]), None


@program(calls=12, captures=6)
def int_then_float():
    def f(x, n):
        return x * n, n + 1
    return f, lambda i: (t(i), i if i < 6 else i / 2), None


@program(calls=12, captures=7)
def signed_zeros_and_booleans():
    def f(x, n):
        return (x + 1) / n, n
    return f, lambda i: (t(i), [0.0, -0.0, True, 1, 1.0, 2.0][i % 6]), None


@program(calls=12, captures=8)
def number_decides_a_branch():
    def f(x, n):
        if n % 3 == 0:
            return x * n
        return x - n
    return f, lambda i: (t(i), i), None


@program(calls=24, captures=12)
def number_as_a_shape():
    def f(x, n):
        return x.sum() + terra.zeros(n).sum() + n
    return f, lambda i: (t(i), 1 + i % 5), None


@program(calls=24, captures=10)
def number_that_only_a_constant_will_do_for():
    o = Bag(n=0)
    def f(x):
        o.n += 1
        return terra.arange(o.n % 4 + 1).sum() + x * o.n
    return f, lambda i: (t(i),), o


@program(calls=12, captures=8)
def big_ints():
    def f(x, n):
        return x * 2, n * 3
    return f, lambda i: (t(i), 7 ** (i * 4)), None


@program(calls=14, captures=9)
def one_function_for_all_instances():
    terra.manual_seed(3)
    layers = [nn.Linear(3, 3) for _ in range(7)]
    def f(layer, x):
        return layer(x) * 2
    return f, lambda i: (layers[i % 7], t(i)), None


@program(calls=14, captures=9)
def schedule_object():
    class Schedule:
        def __init__(self):
            self.epoch, self.base, self.lr = 0, 0.4, 0.4

        def update(self, x):
            self.epoch += 1
            if self.epoch % 4 == 0:
                self.lr = self.base * 0.5 ** (self.epoch // 4)
            return x * self.lr
    s = Schedule()
    return s.update, lambda i: (t(i),), s


@program(calls=130, captures=20)
def thrash():
    """A number that only a constant will do for and that never comes again: the frame is left alone in the end."""
    def f(x, n):
        return x.sum() + terra.ones(n).sum()
    return f, lambda i: (t(i), 3 if i < 60 and i % 2 else 10 + i), None


@program(calls=14, captures=6)
def bounds_with_gradients():
    """Numbers that become inputs are asked for by the rules of gradients, too."""
    leaf = terra.arange(4.0).requires_grad_()
    def f(x, low, high, slope):
        y = terra.nn.functional.leaky_relu(terra.clamp(x * 1, low, high) - 1.0, slope)
        y.sum().backward()
        gradient, x.grad = x.grad, None
        return y.detach(), gradient
    return f, lambda i: (leaf, 0.5 - i * 0.1, 1.0 + i * 0.25, 0.01 * i), None


@program(calls=14, captures=6)
def bounds_with_gradients_later():
    def f(x, low, high):
        return terra.clamp(x, low, high)
    def g(x, low, high):
        leaf = x.clone().requires_grad_()
        f(leaf * 1, low, high).sum().backward()
        return leaf.grad
    g.target = f
    return g, lambda i: (terra.arange(4.0), 0.5 - i * 0.1, 1.0 + i * 0.25), None


@program(calls=14, captures=9)
def weight_of_lerp():
    """A weight beyond the middle counts from the other end, as a float in either case."""
    def f(x, y, n):
        return terra.lerp(x, y, 1 - 0.05 / n), terra.lerp(x, y, -0.7 - 0.05 / n)
    return f, lambda i: (t(i, 24).sin(), t(i, 24).cos(), i + 1), None


@program(calls=16, captures=9)
def reduced_from_generators():
    """Which of them is the largest, and of which type, differs between calls."""
    def f(x, n, m):
        longest = max((k * 2 for k in (n, m)), default=0)
        return (x * sum(k for k in (n, m)), longest, min(k - 1 for k in (n, m)),
                sum([n, m], start=2), math.prod(k for k in (n, m, 2)), math.fsum(k / 10 for k in (n, m)))
    return f, lambda i: (t(i), i if i < 13 else i + 0.5, 5 if i < 12 else 50 + i), None


@program(calls=16, captures=8)
def reduced_until_it_raises():
    def f(x, n, m):
        try:
            return x * sum(k if k != 9 else "nine" for k in (n, m))
        except TypeError as error:
            return x + n, str(error)
    return f, lambda i: (t(i), i, i * 2), None


@program(calls=16, captures=9)
def reduced_after_a_part_was_taken():
    def f(x, n, m):
        numbers = (k for k in (n, m, 4))
        first = next(numbers)
        return x * sum(numbers) + first, list(numbers), sum(k > 3 for k in (n, m)), any(k > 30 for k in (n, m))
    return f, lambda i: (t(i), i + 4, i * 3 + 4), None


@program(calls=16, captures=9)
def products_of_sizes():
    def f(x):
        rows = x.reshape(-1, math.prod(x.shape[1:]))
        return rows * math.prod(n for n in x.shape), math.prod(list(x.shape), start=2), max(y.size(0) for y in (x, rows[:2], x[:1]))
    return f, lambda i: (t(i, (2 + i % 4) * 6).view(-1, 2, 3),), None


def draws(fill):
    """A program whose draws have parameters that change; the generator's state afterwards is compared with the rest."""
    def f(x, p):
        return fill(x.clone(), p), terra.rand(2)
    def args(i):
        if i == 0:
            terra.manual_seed(3)
        return t(i), 0.9 / (1 + i)
    return f, args, None


@program(calls=16, captures=9)
def normal_numbers():
    return draws(lambda x, p: x.normal_(p, 2 * p))


@program(calls=16, captures=9)
def uniform_numbers():
    return draws(lambda x, p: x.uniform_(-p, p))


@program(calls=16, captures=9)
def exponential_numbers():
    return draws(lambda x, p: x.exponential_(p))


@program(calls=16, captures=9)
def coins():
    return draws(lambda x, p: x.bernoulli_(p))


@program(calls=16, captures=9)
def dropped_elements():
    return draws(lambda x, p: nn.functional.dropout(x, p))


@program(calls=16, captures=6)
def probability_out_of_range():
    def f(x, p):
        try:
            return x.clone().bernoulli_(p), terra.rand(1)
        except RuntimeError as error:
            return str(error), terra.rand(1)
    def args(i):
        if i == 0:
            terra.manual_seed(3)
        return t(i), 0.07 * i if i != 13 else 1.5
    return f, args, None


@program(calls=14, captures=4)
def factors_of_products():
    """0 leaves out what it is multiplied with, infinity too; factors of integers lose their fractions."""
    def f(x, a, b, beta, alpha):
        return terra.baddbmm(x, a, b, beta=beta, alpha=alpha)
    def args(i):
        beta, alpha = (0.2, 0, 1, 3, 0.0, 2.7)[i % 6], (0.6, 1, 2, 1.5, -1)[i % 5]
        dtype = terra.int64 if i > 6 else terra.float32
        x = terra.full((2, 2, 2), math.inf) if beta == 0 and i <= 6 else terra.arange(8).view(2, 2, 2).to(dtype)
        rows = terra.arange(12).to(dtype)
        return x, rows.view(2, 2, 3), rows.view(2, 3, 2), beta, alpha
    return f, args, None


if __name__ == "__main__":
    main()
