# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=assert=*@4
"""Branches on tensor values that rejoin: what follows is recorded once or twice, not once for each way to get there."""
import terra
from terra import nn

from _branches import row
from _harness import Bag, main, program


@program(calls=40, captures=30, recordings=4)
def three_in_sequence():
    def f(x, y, z):
        if x.sum() > 0:
            a = x * 2
        else:
            a = x - 1
        if y.sum() > 0:
            a = a + y
        else:
            a = a * y
        if z.sum() > 0:
            a = a - z
        else:
            a = a * 0.5
        return a.sum(), a
    return f, lambda i: (row(i, 0), row(i, 1), row(i, 2)), None


@program(calls=60, captures=44, recordings=8)
def six_in_sequence():
    def f(x):
        a = x[0] + 1
        a = a * 2 if x[0].sum() > 0 else a - 1
        a = a + x[1] if x[1].sum() > 0 else a * 0.5
        a = a.tanh() if x[2].sum() > 0 else a.sin()
        a = a - x[3] if x[3].sum() > 0 else a
        a = a * 3 if x[4].sum() > 0 else a.abs()
        a = a + 1 if x[5].sum() > 0 else a - 1
        return a
    return f, lambda i: (terra.stack([row(i, k) for k in range(6)]),), None


@program(calls=40, captures=28, recordings=5)
def modules_on_the_sides():
    terra.manual_seed(1)
    first, second, third = nn.Linear(3, 4), nn.Linear(3, 4), nn.Linear(4, 2)

    def f(x):
        with terra.no_grad():
            if x.sum() > 0:
                y = first(x)
            else:
                y = second(x).relu()
            y = third(y)
            if y.sum() > 0:
                y = y + 1
            else:
                y = y * x.sum()
            return y.tanh()
    return f, lambda i: (row(i, 0),), None


@program(calls=40, captures=28, recordings=5)
def read_as_numbers():
    def f(x, y):
        if x.sum().item() > 0.5:
            a = x * 2
        else:
            a = x - 1
        if float(y.sum()) > 0.5:
            a = a + y
        else:
            a = a * y
        return a.sum().item(), a
    return f, lambda i: (row(i, 0), row(i, 1)), None


@program(calls=40, captures=20)
def numbers_that_differ():
    def f(x, y):
        if x.sum() > 0:
            k = 2
        else:
            k = 3
        if y.sum() > 0:
            return x * k
        return y - k
    return f, lambda i: (row(i, 0), row(i, 1)), None


@program(calls=40, captures=20)
def effects_on_one_side():
    def f(x, y, log):
        if x.sum() > 0:
            log.append("x")
            a = x * 2
        else:
            a = x - 1
        if y.sum() > 0:
            a = a + y
        else:
            log.append("y")
            a = a * y
        return a
    log = []
    return f, lambda i: (row(i, 0), row(i, 1), log), log


@program(calls=40, captures=26, recordings=6)
def effects_behind():
    def f(x, y, state):
        a = x * 2 if x.sum() > 0 else x - 1
        b = a + y if y.sum() > 0 else a * y
        state.n += 1
        state.kept = b
        state.log.append(a)
        return a + b
    state = Bag(n=0, kept=None, log=[])
    return f, lambda i: (row(i, 0), row(i, 1), state), state


@program(calls=40, captures=20)
def in_place_on_one_side():
    def f(x, y):
        a = x + 1
        if x.sum() > 0:
            a.mul_(2)
        if y.sum() > 0:
            a.add_(y)
        return a, a._version
    return f, lambda i: (row(i, 0), row(i, 1)), None


@program(calls=40, captures=20)
def an_argument_written_on_one_side():
    def f(x, y):
        if x.sum() > 0:
            x.mul_(2)
        if y.sum() > 0:
            return x + y
        return x - y
    return f, lambda i: (row(i, 0), row(i, 1)), None


@program(calls=40, captures=20)
def one_side_is_a_view():
    def f(x, y):
        if x.sum() > 0:
            a = x[1:]
        else:
            a = x[:2] * 2
        if y.sum() > 0:
            b = y + 1
        else:
            b = y - 1
        return a, b, a.add_(1)
    return f, lambda i: (row(i, 0), row(i, 1)), None


@program(calls=40, captures=20)
def one_side_is_an_argument():
    def f(x, y):
        a = x if x.sum() > 0 else y
        b = y * 2 if y.sum() > 0 else x * 3
        return a, b, a is x, a is y
    return f, lambda i: (row(i, 0), row(i, 1)), None


@program(calls=40, captures=20)
def the_same_twice_on_one_side():
    def f(x, y):
        if x.sum() > 0:
            a = b = x * 2
        else:
            a, b = x * 3, x * 4
        if y.sum() > 0:
            c = a + y
        else:
            c = b - y
        return a, b, c, a is b
    return f, lambda i: (row(i, 0), row(i, 1)), None


@program(calls=40, captures=20)
def shapes_that_differ():
    def f(x, y):
        a = x[:2] * 1 if x.sum() > 0 else x * 1
        b = y + 1 if y.sum() > 0 else y - 1
        return a.sum() + b, a
    return f, lambda i: (row(i, 0), row(i, 1)), None


@program(calls=40, captures=18)
def constants_that_differ():
    def f(x, y):
        w = terra.tensor([1.0, 2.0, 3.0]) if x.sum() > 0 else terra.tensor([4.0, 5.0, 6.0])
        if y.sum() > 0:
            return w * y
        return w - y
    return f, lambda i: (row(i, 0), row(i, 1)), None


@program(calls=48, captures=24)
def nested_sides():
    def f(x, y, z):
        if x.sum() > 0:
            if y.sum() > 0:
                a = x + y
            else:
                a = x - y
        else:
            a = x * y
        if z.sum() > 0:
            a = a + z
        else:
            a = a * z
        return a
    return f, lambda i: (row(i, 0), row(i, 1), row(i, 2)), None


@program(calls=40, captures=22)
def early_return_on_one_side():
    def f(x, y, z):
        if x.sum() > 0:
            a = x * 2
        else:
            a = x - 2
        if y.sum() > 0:
            return a, "early"
        if z.sum() > 0:
            a = a + z
        else:
            a = a - z
        return a, "late"
    return f, lambda i: (row(i, 0), row(i, 1), row(i, 2)), None


@program(calls=40, captures=12)
def raises_on_one_side():
    def f(x, y):
        a = x * 2 if x.sum() > 0 else x - 2
        if y.sum() > 0:
            raise ValueError("positive")
        return a * y
    return f, lambda i: (row(i, 0), row(i, 1)), None


@program(calls=40, captures=20)
def random_on_one_side():
    def f(x, y):
        if x.sum() > 0:
            a = x + terra.rand(3)
        else:
            a = x * 2
        if y.sum() > 0:
            a = a + terra.rand(3)
        else:
            a = a - 1
        return a, terra.rand(1)

    def args(i):
        terra.manual_seed(i)
        return row(i, 0), row(i, 1)
    return f, args, None


@program(calls=40, captures=16)
def gradients_behind():
    w = terra.tensor([1.0, 2.0, 3.0], requires_grad=True)

    def f(x, y):
        a = w * x if x.sum() > 0 else w - x
        b = a * y if y.sum() > 0 else a + y
        b.sum().backward()
        g, w.grad = w.grad, None
        return g, b.detach()
    return f, lambda i: (row(i, 0), row(i, 1)), w


@program(calls=40, captures=16)
def gradients_kept_over_a_branch():
    w = terra.tensor([1.0, 2.0, 3.0], requires_grad=True)

    def f(x, y):
        if x.sum() > 0:
            (w * x).sum().backward()
        else:
            (w * w - x).sum().backward()
        a = x + 1 if y.sum() > 0 else x - 1
        g, w.grad = w.grad, None
        return g + a
    return f, lambda i: (row(i, 0), row(i, 1)), w


@program(calls=40, captures=12)
def a_training_step():
    terra.manual_seed(2)
    net = nn.Linear(3, 1)
    optimizer = terra.optim.SGD(net.parameters(), lr=0.01)

    def f(x, y):
        optimizer.zero_grad()
        out = net(x)
        loss = (out - 1).pow(2).sum() if out.sum() > 0 else (out + 1).abs().sum()
        if y.sum() > 0:
            loss = loss * 2
        loss.backward()
        optimizer.step()
        return loss.item()
    return f, lambda i: (row(i, 0), row(i, 1)), net


@program(calls=40, captures=6)
def a_number_pinned_on_one_side():
    def f(x, y):
        if x.sum() > 0:
            a = x * len("ab" * int(x.max().item()))
        else:
            a = x - 1
        if y.sum() > 0:
            a = a + y
        else:
            a = a * y
        return a
    return f, lambda i: (row(i, 0), row(i, 1)), None


@program(calls=40, captures=6)
def a_division_on_one_side():
    def f(x, y, z):
        if x.sum() > 0:
            unused = 1 / z.item()
            del unused
            a = x * 2
        else:
            a = x - 1
        if y.sum() > 0:
            a = a + y
        else:
            a = a * y
        return a
    return f, lambda i: (row(i, 0), row(i, 1), terra.tensor(float(i % 7))), None


@program(calls=48, captures=24)
def attributes_that_change():
    def f(x, y, state):
        if x.sum() > 0:
            a = x * state.scale
        else:
            a = x - state.shift
        if y.sum() > 0:
            a = a + y * state.scale
        else:
            a = a - y
        return a
    state = Bag(scale=1.5, shift=0.5)

    def args(i):
        state.scale = 1.5 + i % 4
        return row(i, 0), row(i, 1), state
    return f, args, state


@program(calls=48, captures=20)
def a_flag_that_changes():
    def f(x, y, state):
        a = x * 2 if x.sum() > 0 else x - 1
        if y.sum() > 0:
            b = a + y if state.flag else a - y
        else:
            b = a * y
        return b
    state = Bag(flag=True)

    def args(i):
        state.flag = i % 5 != 0
        return row(i, 0), row(i, 1), state
    return f, args, state


@program(calls=48, captures=24)
def temporaries_on_one_side():
    def f(x, y):
        if x.sum() > 0:
            t = x * 2
            a = t + 1
        else:
            a = x - 1
        if y.sum() > 0:
            u = y + 1
            a = a * u
        else:
            a = a - y
        return a
    return f, lambda i: (row(i, 0), row(i, 1)), None


def closure(o):
    def get():
        return o
    return get


def default(o):
    def get(o=[o]):
        return o[0]
    return get


def class_of(o):
    class Holder:
        held = [o]
    return lambda: Holder.held[0]


def module(o):
    names = {"held": o}
    exec("def get(): return held", names)
    return names["get"]


def one_of_two(make):
    """What is read the same in two places, and isn't."""
    a, b = make(Bag(k=1.0)), make(Bag(k=3.0))
    def f(x, y):
        o = a() if x.sum() > 0 else b()
        return y * o.k if y.sum() > 0 else y - o.k
    return f, lambda i: (row(i, 0), row(i, 1)), None


@program(calls=40, captures=20)
def variables_by_one_name():
    return one_of_two(closure)


@program(calls=40, captures=20)
def defaults_by_one_name():
    return one_of_two(default)


@program(calls=40, captures=20)
def classes_by_one_name():
    return one_of_two(class_of)


@program(calls=40, captures=20)
def globals_by_one_name():
    return one_of_two(module)


@program(calls=40, captures=20)
def an_argument_and_a_variable_by_one_name():
    inner = closure(Bag(k=3.0))
    def f(x, y, o):
        held = inner() if x.sum() > 0 else o
        return y * held.k if y.sum() > 0 else y - held.k
    o = Bag(k=2.0)
    return f, lambda i: (row(i, 0), row(i, 1), o), None


@program(calls=40, captures=20)
def tensors_by_one_name():
    a, b = closure(terra.arange(4.0)), closure(terra.arange(4.0) + 1)
    def f(x, y):
        held = a() if x.sum() > 0 else b()
        return y * held[0] if y.sum() > 0 else y - held[1]
    return f, lambda i: (row(i, 0), row(i, 1)), None


@program(calls=40, captures=20)
def numbers_by_one_name():
    first, second = {"n": 1.0}, {"n": 2.0}
    for names in first, second:
        exec("def get(): return n", names)
    a, b = first["get"], second["get"]
    def f(x, y):
        n = a() if x.sum() > 0 else b()
        return y * n if y.sum() > 0 else y - n
    def args(i):
        first["n"], second["n"] = i * 1.5, i * 2.5
        return row(i, 0), row(i, 1)
    return f, args, None


@program(calls=40, captures=20)
def keys_that_begin_alike():
    table = {"a" * 70 + "1": Bag(k=1.0), "a" * 70 + "2": Bag(k=2.0)}
    one, two = table
    def f(x, y, table):
        o = table[one] if x.sum() > 0 else table[two]
        return y * o.k if y.sum() > 0 else y - o.k
    return f, lambda i: (row(i, 0), row(i, 1), table), None


main()
