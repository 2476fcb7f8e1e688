"""Attributes that a program gives to tensors, which hide those of their class, and frames that read either."""
import copy

import terra
from _harness import main, program
from terra import nn


def t(i):
    return terra.arange(3.0) + i


def shadow():
    return "shadow"


@program(calls=60, captures=20)
def method_hidden_later():
    """First here: the first such attribute of a process concerns entries that were made without any."""
    def f(x):
        return (x * 2).relu(), x.relu(), x.sum()
    def args(i):
        x = t(i - 30)
        if i >= 40 and i % 3 == 0:
            x.relu = shadow
        return x,
    return f, args, None


@program(calls=12, captures=4)
def method_hidden_by_turns():
    x = t(-1)
    def f(x):
        return x.relu()
    def args(i):
        if i in (4, 9):
            x.relu = shadow
        if i in (6, 11):
            del x.relu
        return x,
    return f, args, None


@program(calls=12, captures=4)
def method_hidden_in_the_dict():
    x = t(-1)
    attributes = x.__dict__
    def f(x):
        return x.relu()
    def args(i):
        if i == 5:
            attributes["relu"] = shadow
        if i == 8:
            x.__dict__ = {"exp": shadow}
        if i == 10:
            vars(x)["relu"] = shadow
        return x,
    return f, args, None


@program(calls=12, captures=4)
def method_of_a_parameter_hidden():
    m = nn.Linear(3, 1)
    nn.init.ones_(m.weight)
    def f(m, x):
        return m(x) - m.bias, m.weight.sum()
    def args(i):
        if i == 5:
            m.weight.sum = shadow
        if i == 9:
            m.weight = copy.deepcopy(m).weight
            del m.weight.sum
        return m, t(i)
    nn.init.zeros_(m.bias)
    return f, args, None


@program(calls=12, captures=4)
def size_hidden():
    """A frame without any tensor work."""
    def f(x, n):
        return [x.size(0) + k for k in range(n)], x.numel()
    def args(i):
        x = t(i)
        if i in (5, 6):
            x.size = lambda dim: 70
        if i in (8, 9):
            x.numel = lambda: 80
        return x, 3
    return f, args, None


@program(calls=12, captures=4)
def size_of_tensors_replaced():
    plain = terra.Tensor.size
    def f(x, n):
        return [x.size(0) + k for k in range(n)]
    def args(i):
        if i in (5, 8):
            terra.Tensor.size = plain if i == 8 else lambda self, dim: 70
        return t(i), 3
    return f, args, None


@program(calls=12, captures=3)
def c_function_in_place_of_a_method():
    def f(x, y):
        return x.relu(y) if "relu" in names(x) else x.relu()
    def names(x):
        return vars(x) if x.kind else ()
    def args(i):
        x = t(i - 4)
        x.kind = i % 3 == 2
        if x.kind:
            x.relu = terra.exp
        return x, t(0)
    return f, args, None


@program(calls=12, captures=4)
def tensor_kept_in_a_tensor():
    """What an attribute holds is the other argument, and then it isn't any more."""
    other = t(100)
    def f(x, y):
        return x.mate + y, x.rate * y
    def args(i):
        x, y = t(i), t(2 * i)
        x.mate = y if i < 6 else other
        x.rate = i / 2
        return x, y
    return f, args, None


@program(calls=12, captures=None, reason=7)
def attribute_set_inside():
    def f(x):
        y = x * 2
        y.relu = shadow
        return y.relu(), y.exp()
    return f, lambda i: (t(i),), None


@program(calls=12, captures=4)
def intermediates_while_methods_may_be_hidden():
    """Results of ops have no attributes to ask for; those that come from outside do, wherever they are met."""
    kept = [t(1), t(2)]
    def f(x, kept):
        y = x * 2
        for k in kept:
            y = y.add(k.abs()).relu().view(3, 1).squeeze(1)
        return y.sum(), y.shape, kept[0].T.mean()
    def args(i):
        if i == 7:
            kept[1].abs = lambda: 50
        return t(i), kept
    return f, args, None


def replaced(method, new, f):
    """Frames without any op while Tensor has another method, calls 6 and 7."""
    old = vars(terra.Tensor)[method]
    def args(i):
        if i in (6, 8):
            setattr(terra.Tensor, method, new if i == 6 else old)
        return t(i), i % 2
    return f, args, None


@program(calls=12, captures=4)
def length_replaced():
    def f(x, i):
        return len(x), i
    return replaced("__len__", lambda self: 9, f)


@program(calls=12, captures=4)
def size_replaced():
    def f(x, i):
        return x.shape, x.numel(), i
    return replaced("numel", lambda self: 9, f)


@program(calls=12, captures=2)
def length_of_an_item_replaced():
    def f(x, i):
        return isinstance(x, terra.Tensor), len([x, x][i]), i
    return replaced("__len__", lambda self: 1000, f)


if __name__ == "__main__":
    main()
