# run:
# run: HARNESS_MODE=auto
"""What public programs do that once kept their functions from being served: bound methods of C types as objects, lengths of
containers that grow, hooks on parameters whose gradients are read, buffers that are replaced where they are read."""
import collections
import os

import terra
from _harness import main, program
from terra import nn


@program(calls=8, recordings=3)
def a_bound_c_method_is_an_argument():
    tables = [{"a": 2.0}, {"a": 3.0}, {}, collections.OrderedDict(a=5.0)]

    def f(get, x):
        return x * get("a", 1.0)
    return f, lambda i: (tables[i % 2].get, terra.ones(2) * i), None


@program(calls=8, captures=0)
def a_bound_c_method_of_another_type_or_name():
    owners = [{"a": 2.0}.get, [1.0, 2.0].count, {"a": 4.0}.pop, collections.Counter(a=3).get, "aa".count]

    def f(ask, x):
        return x * ask("a")
    return f, lambda i: (owners[i % 5] if i % 5 != 2 else {"a": 4.0}.pop, terra.ones(2) * i), None


@program(calls=8, cut=True)
def a_bound_append_over_a_cut():
    def f(x, n):
        kept = []
        keep = kept.append
        for i in range(2):
            os.getpid()
            x = terra.tanh(x + i) * n
            keep(x)
        return terra.stack(kept)
    return f, lambda i: (terra.ones(2), float(i)), None


@program(calls=8, cut=True)
def a_cut_inside_of_no_grad():
    w = terra.ones(3, requires_grad=True)

    def f(x):
        with terra.no_grad():
            h = terra.tanh(x * w)
            os.getpid()
            y = terra.softmax(h, -1).exp()
        return y, (x * w).sum(), y.requires_grad
    return f, lambda i: (terra.ones(3) * i,), w


@program(calls=8, cut=True)
def a_shared_no_grad_that_is_entered_around_a_cut():
    quiet, w = terra.no_grad(), terra.ones(3, requires_grad=True)

    def f(x):
        with quiet:
            y = x * w
            os.getpid()
            z = y * w
        return z.requires_grad, terra.is_grad_enabled(), z
    return f, lambda i: (terra.ones(3) * i,), w


@program(calls=8, cut=True)
def a_mode_around_a_cut_goes_back_to_what_was_before():
    w = terra.ones(3, requires_grad=True)

    def f(x, inner):
        with terra.set_grad_enabled(inner):
            y = x * w
            os.getpid()
            y = y * 2
        z = x * w
        return y.requires_grad, z.requires_grad, terra.is_grad_enabled(), y, z

    def given(i):
        terra.set_grad_enabled(i % 2 == 1)
        return terra.ones(3) * i, i % 4 < 2
    return f, given, w


def hooked(register):
    net = nn.Linear(3, 2)
    with terra.no_grad():
        net.weight.fill_(0.5), net.bias.fill_(0.25)
    register(net.weight)

    def norm():
        return sum((p.grad * p.grad).sum() for p in net.parameters())

    def given(i):
        if i % 4 == 3:
            net.weight.register_hook(lambda g: g + 1)
        net.zero_grad()
        (net(terra.ones(2, 3) * i)).square().sum().backward()
        return ()
    return norm, given, net.bias


@program(calls=10)
def gradients_are_read_of_a_parameter_with_a_hook():
    return hooked(lambda p: p.register_hook(lambda g: g * 0.5))


@program(calls=10)
def gradients_are_read_of_a_parameter_with_a_hook_behind_accumulation():
    return hooked(lambda p: p.register_post_accumulate_grad_hook(lambda t: t.grad.mul_(2)))


@program(calls=12, captures=0)
def a_hook_comes_to_a_parameter_that_the_function_trains():
    w, seen = terra.ones(3, requires_grad=True), []

    def f(x):
        w.grad = None
        (w * x).sum().backward()
        return w.grad * 2

    def given(i):
        if i == 8:
            w.register_hook(lambda g: seen.append(g.sum().item()))
        return (terra.ones(3) * i,)
    return f, given, (w, seen)


@program(calls=8)
def a_buffer_is_replaced_and_read():
    m = nn.Linear(2, 2)
    m.register_buffer("b", terra.ones(2))

    def f(x):
        old = m.b
        m.register_buffer("b", x * 2)
        return m.b + old
    return f, lambda i: (terra.ones(2) * i,), m._buffers


@program(calls=8)
def a_buffer_is_replaced_through_its_dict():
    m = nn.Linear(2, 2)
    m.register_buffer("b", terra.ones(2))

    def f(x):
        old = m.b
        m._buffers["b"] = x + 1
        new = m.b
        m.b = new * old
        return list(m.buffers()), m.b
    return f, lambda i: (terra.ones(2) * i,), m._buffers


@program(calls=8)
def two_parameters_change_places():
    m = nn.Linear(2, 2, bias=False)
    m.other = nn.Parameter(terra.zeros(2, 2))

    def f(x):
        a, b = m.weight, m.other
        m._parameters["weight"], m._parameters["other"] = b, a
        return x @ m.weight.t() - x @ m.other.t()

    with terra.no_grad():
        m.weight.fill_(2)
    return f, lambda i: (terra.ones(1, 2) * i,), m._parameters


@program(calls=9)
def a_changing_key_beside_a_sequence_of_modules():
    net, log = nn.Sequential(nn.Linear(2, 2), nn.ReLU()), {}
    with terra.no_grad():
        for p in net.parameters():
            p.fill_(0.5)

    def f(x, i):
        log[f"k{i % 3}"] = x.sum()
        return net(x)
    return f, lambda i: (terra.ones(1, 2) * i, i), log


def grows(container, add, limit=6):
    def f(x):
        if len(container) < limit:
            return x * 2
        return x * len(container)

    def given(i):
        add(i)
        return (terra.ones(2) * i,)
    return f, given, None


@program(calls=20, recordings=9)
def the_length_of_a_deque():
    kept = collections.deque(maxlen=15)
    return grows(kept, lambda i: kept.append(i))


@program(calls=20, recordings=9)
def the_length_of_a_dict():
    kept = {}
    return grows(kept, lambda i: kept.update({i: 1}))


@program(calls=20, recordings=9)
def the_length_of_a_set():
    kept = set()
    return grows(kept, lambda i: kept.add(i % 17))


@program(calls=20, recordings=6)
def the_length_of_a_tuple_that_is_another_one():
    def f(x, items):
        return x * len(items)
    return f, lambda i: (terra.ones(2), (1,) * (i + 1)), None


@program(calls=12, captures=0)
def a_length_that_is_asked_before_and_after_a_change():
    kept, table = collections.deque(maxlen=5), {}

    def f(x, i):
        before = len(kept), len(table)
        kept.append(i)
        table[i % 7] = i
        return x * (before[0] + 10 * len(kept)), before[1] - len(table)
    return f, lambda i: (terra.ones(2), i), (kept, table)


@program(calls=9, captures=0)
def a_class_with_a_length_of_its_own():
    class Odd(dict):
        def __len__(self):
            return 3

    kinds = [{}, Odd(), {1: 2}]

    def f(x, d):
        return x * len(d)
    return f, lambda i: (terra.ones(2), kinds[i % 3]), None


@program(calls=8, cut=True)
def a_cut_in_a_loop_over_a_range_backwards():
    def f(x, n):
        seen = []
        for t in reversed(range(1, n, 2)):
            os.getpid()
            x = terra.tanh(x * t + 1)
            seen.append(t)
        return x, seen, list(reversed(range(n)))
    return f, lambda i: (terra.ones(2), 7 if i < 6 else 4), None


def assigns_data(shares):
    p, kept = nn.Parameter(terra.ones(3)), {}

    def f():
        p.data = kept["b"]
        with terra.no_grad():
            p.sub_(0.5)

    def given(i):
        kept["b"] = p.data if shares and i % 5 == 4 else p.data.clone()
        with terra.no_grad():
            p.add_(0.25)
        return ()
    return f, given, (p, kept)


@program(calls=8, cut=True)
def data_is_assigned_memory_that_is_kept_elsewhere():
    return assigns_data(False)


@program(calls=12, captures=0)
def data_is_assigned_its_own_memory_now_and_then():
    return assigns_data(True)


@program(calls=8)
def sizes_are_made_and_counted():
    def f(x, given):
        size = terra.Size(given)
        whole = size + x.shape
        return (x * 2).expand(whole) + size.numel() * x.shape.numel(), whole, type(whole), terra.Size(), terra.Size(x.shape)
    return f, lambda i: (terra.ones(4), (3,) if i < 5 else [2, 3]), None


@program(calls=6, captures=0)
def a_size_of_what_are_no_ints():
    def f(x, given):
        try:
            return terra.Size(given), x * 2
        except TypeError as error:
            return str(error), x
    cases = [(True, 2), (2.5,), ("a",), (terra.tensor(3),), range(3), iter([4, 5])]
    return f, lambda i: (terra.ones(2), cases[i] if i < 5 else iter([4, 5])), None


main()
