"""Places of a program that a captured call reads or rests on: at least one for each kind of fact. Each function makes
(f, arguments of call i, targets, what is compared beside results)."""
import builtins
import collections
import functools
import os
import random
import types

import torch
from torch import nn

from _mutators import Attribute, Calls, Cell, Class, Function, Items, Keys, Method, Module, Name

places = {}


def place(make):
    places[make.__name__] = make
    return make


def x(i=0):
    return torch.arange(3.0) * 0.5 + i % 2


class Thing:
    k = 2

    def __init__(self, **attributes):
        vars(self).update(attributes)


def things(**attributes):
    """An instance of a class of its own, with two classes above it."""
    base = type("Base", (), {})
    cls = type("Thing", (type("Middle", (base,), {}),), {"k": 2})
    ob = cls()
    vars(ob).update(attributes)
    return ob, cls


# ---- the rest of a frame, behind something opaque ----


@place
def rest_of_a_frame():
    ob, _ = things(n=3, t=x(1))

    def f(x):
        y = x * ob.n
        os.getpid()
        return y + ob.t * ob.n
    return f, lambda i: (x(i),), [Attribute(ob, "n", 5), Attribute(ob, "t", x(1) * 9)], ob


@place
def name_that_is_not_always_bound():
    ob, _ = things(n=0)

    def f(x):
        if ob.n:
            extra = x * 3
        os.getpid()
        try:
            return x + extra
        except UnboundLocalError:
            return x * 2
    return f, lambda i: (x(i),), [Attribute(ob, "n", 5)], ob


@place
def last_reference_of_a_frame():
    gone = []

    class Plain:
        pass

    class Told:
        def __del__(self):
            gone.append(len(gone))
    ob, _ = things(make=Plain)

    def f(x):
        kept = ob.make()
        os.getpid()
        y = x * 2
        kept = None
        gone.append("after")
        return y, kept
    return f, lambda i: (x(i),), [Attribute(ob, "make", Told)], gone


# ---- attributes and names ----


@place
def attribute():
    ob, _ = things(n=3, t=x(1))
    return lambda x: x * ob.n + ob.t, lambda i: (x(i),), [Attribute(ob, "n", 5), Attribute(ob, "t", x(1) * 9)], ob


@place
def attribute_in_a_dict():
    ob, _ = things(n=3)
    vars(ob)["more"] = 1  # a real dict takes the place of the inline values
    return lambda x: x * ob.n, lambda i: (x(i),), [Attribute(ob, "n", 5)], ob


@place
def attribute_among_many():
    ob, _ = things(**{f"a{j}": j for j in range(40)})
    return lambda x: x * ob.a7 + ob.a39, lambda i: (x(i),), [Attribute(ob, "a7", 70), Attribute(ob, "a39", 2)], ob


@place
def attribute_of_argument():
    ob, _ = things(n=3)
    return lambda x, o: x * o.n, lambda i: (x(i), ob), [Attribute(ob, "n", 5), Class(ob, Thing)], ob


@place
def attribute_of_the_class():
    ob, cls = things()
    return lambda x: x * ob.k, lambda i: (x(i),), [Attribute(ob, "k", 5), Method(cls, "k", 7, ob)], ob


@place
def class_attribute():
    _, cls = things()
    return lambda x: x * cls.k, lambda i: (x(i),), [Method(cls, "k", 7, more=["k"])], None


@place
def slot():
    cls = type("Slotted", (type("Base", (), {"__slots__": ()}),), {"__slots__": ("n", "t")})
    ob = cls()
    ob.n, ob.t = 3, x(1)
    return lambda x: x * ob.n + ob.t, lambda i: (x(i),), [Attribute(ob, "n", 5), Attribute(ob, "t", x(1) * 9)], ob


@place
def named_field():
    pair = collections.namedtuple("Pair", "a b")
    one = [pair(2, 3)]
    return lambda x: x * one[0].b, lambda i: (x(i),), [Items(one, pair(4, 5)), Method(pair, "b", property(lambda s: 9))], one


@place
def missing_attribute():
    ob, _ = things(n=3)
    return lambda x: x * getattr(ob, "m", 7), lambda i: (x(i),), [Attribute(ob, "m", 5)], ob


@place
def attributes_by_name():
    ob, _ = things(n=3, m=4)
    return (lambda x: x * sum(vars(ob).values()) + len(ob.__dict__), lambda i: (x(i),),
            [Attribute(ob, "n", 5), Attribute(ob, "zz", 5), Keys(vars(ob), "n", 9)], ob)


@place
def names_in_order():
    ob, _ = things(n=3, m=4)

    def f(x):
        for name in vars(ob):
            x = x * 2 if name == "n" else x + 1
        return x
    return f, lambda i: (x(i),), [Keys(vars(ob), "n", 9), Attribute(ob, "m", 5)], ob


@place
def method():
    ob, cls = things(n=3)
    cls.meth = lambda s, x, m=2: x * m + s.n
    return lambda x: ob.meth(x), lambda i: (x(i),), [Method(cls, "meth", lambda s, x, m=3: x - m, ob), Attribute(ob, "n", 5)], ob


@place
def property_of_class():
    ob, cls = things(n=3)
    cls.p = property(lambda s: s.n * 2)
    return lambda x: x * ob.p, lambda i: (x(i),), [Attribute(ob, "p", 5), Method(cls, "p", property(lambda s: 8), ob)], ob


@place
def descriptor_that_hides_itself():
    log = []

    class Once:
        def __get__(self, ob, owner=None):
            log.append(1)
            ob.__dict__["table"] = value = torch.ones(3) * len(log)
            return value

    class Holder:
        table = Once()
        n = 0

        def run(self, x):
            self.n += 1
            return x * self.n + self.table
    ob = Holder()
    return lambda x: ob.run(x), lambda i: (x(i),), [Attribute(ob, "table", x(2)), Attribute(ob, "n", 20)], (log, ob)


@place
def cached_property():
    log = []

    class Holder:
        @functools.cached_property
        def table(self):
            log.append(1)
            return torch.ones(3) * len(log)
    ob = Holder()
    return lambda x: x + ob.table, lambda i: (x(i),), [Attribute(ob, "table", x(2))], log


@place
def module_attribute():
    module = types.ModuleType("mm")
    module.v = 2
    return lambda x: x * module.v, lambda i: (x(i),), [Module(module, "v", 5)], None


@place
def function_of_a_module():
    module = types.ModuleType("mm")
    module.v = lambda x: x + 1
    return lambda x: module.v(x), lambda i: (x(i),), [Module(module, "v", lambda x: x + 5)], None


@place
def missing_in_a_module():
    module = types.ModuleType("mm")

    def f(x):
        try:
            return x * module.v
        except AttributeError:
            return x * getattr(module, "v", 7) + (2 if hasattr(module, "v") else 3)
    return f, lambda i: (x(i),), [Module(module, "v", 5)], None


def in_a_space(source, **space):
    exec(source, space)
    return space["f"], space


@place
def global_name():
    f, space = in_a_space("def f(x): return x * n + g(x)", n=3, g=lambda x: x + 1)
    return f, lambda i: (x(i),), [Name(space, "n", 5), Name(space, "g", lambda x: x + 5)], None


@place
def builtin_name():
    f, space = in_a_space("def f(x): return x * ord('a') + divmod(7, 3)[1]")  # nothing that this test calls itself
    return f, lambda i: (x(i),), [Name(space, "ord", lambda x: 9), Name(space, "divmod", lambda a, b: (5, 5))], None


@place
def builtins_of_its_own():
    f, space = in_a_space("def f(x): return x * len([1, 2]) + max(2, 3)", __builtins__=dict(vars(builtins)))
    return f, lambda i: (x(i),), [Name(space, "len", lambda x: 9), Name(space, "max", min)], None


@place
def missing_name():
    f, space = in_a_space("def f(x):\n  try: return x * n\n  except NameError: return x * 7")
    return f, lambda i: (x(i),), [Name(space, "n", 5)], None


@place
def closure():
    n, t = 3, x(1)

    def f(x):
        return x * n + t
    return f, lambda i: (x(i),), [Cell(f, "n", 5), Cell(f, "t", x(1) * 9)], None


# ---- functions ----


@place
def function():
    def g(x, y=2, *, k=3):
        return x * y + k
    return lambda x: g(x), lambda i: (x(i),), [Function(g, lambda x, y=2, *, k=3: x - y * k)], None


@place
def function_without_parameters():
    def g(*args):
        return args[0] * 2
    return lambda x: g(x), lambda i: (x(i),), [Function(g, lambda *args: args[0] * 5)], None


@place
def function_itself():
    def f(x, y=2, *, k=3):
        return x * y + k
    return f, lambda i: (x(i),), [Function(f, lambda x, y=2, *, k=3: x - y * k)], None


@place
def function_of_positions():
    def f(x, y=2):
        return x * y
    return f, lambda i: (x(i),), [Function(f, lambda x, y=2: x - y)], None


@place
def bound_c_method_of_argument():
    ob, _ = things(ask={"a": 2}.get)
    table = {"a": 3}

    def f(x, get):
        return x * get("a", 7) + ob.ask("a", 5) + (get == ob.ask)
    return f, lambda i: (x(i), table.get), [Keys(table, "a", 5), Attribute(ob, "ask", {"a": 4}.get)], ob


@place
def bound_method_of_argument():
    ob, cls = things(n=3)
    cls.meth = lambda s, x: x * s.n
    bound = ob.meth
    return lambda x, m: m(x), lambda i: (x(i), bound), [Attribute(ob, "n", 5), Method(cls, "meth", lambda s, x: x + 9, ob)], ob


@place
def partial():
    table = {"w": 4}
    call = functools.partial(lambda x, y, w=1: x * y + w, y=2)
    call.keywords.update(table)
    return lambda x, c: c(x), lambda i: (x(i), call), [Keys(call.keywords, "w", 9)], None


@place
def kept_result():
    n = [3]

    @functools.lru_cache
    def g(k):
        return n[0] * k
    return lambda x: x * g(2), lambda i: (x(i),), [Items(n, 5), Calls(lambda: g.cache_clear(), clearing=g.cache_clear)], None


# ---- containers ----


@place
def items():
    values = [2, 3, x(1)]
    return lambda x: x * values[0] + values[1] + values[-1], lambda i: (x(i),), [Items(values, 7)], values


@place
def items_in_a_loop():
    values = [x(1), x(2)]
    return lambda x: sum(values, x) * len(values), lambda i: (x(i),), [Items(values, x(1) * 3)], values


@place
def item_by_number():
    values = [2, 3, 4, 5]
    return lambda x, n: x * values[n] + n, lambda i: (x(i), i % 3), [Items(values, 7)], values


@place
def tuples():
    ob, _ = things(t=(2, (3, 4)))
    return lambda x: x * ob.t[0] + ob.t[1][1], lambda i: (x(i),), [Attribute(ob, "t", (2, (3, 5))), Attribute(ob, "t", (2,))], ob


@place
def deque():
    values = collections.deque([2, 3], maxlen=2)
    ob, _ = things(q=values)

    def f(x):
        ob.q.append(ob.q[0])
        return x * ob.q[0] + len(ob.q)
    return f, lambda i: (x(i),), [Items(values, 7), Attribute(ob, "q", collections.deque([2, 3], maxlen=3))], ob


@place
def keys():
    table = {"a": 2, "b": x(1)}

    def f(x):
        for name, value in table.items():
            x = x * 2 + value if name == "a" else x + value
        return x * table["a"] + table.get("c", 1)
    return f, lambda i: (x(i),), [Keys(table, "a", 7), Keys(table, "c", 7)], table


@place
def keys_that_are_numbers():
    table = {1: 2, 2: 3}
    return lambda x, n: x * table.get(n, 5) + table[1], lambda i: (x(i), 1 + i % 3), [Keys(table, 1, 7)], table


@place
def keys_that_are_objects():
    ob, other = Thing(n=1), Thing(n=2)
    table = {ob: 2, other: x(1)}

    def f(x, o):
        for key in table:
            x = x * key.n
        return x * table[ob] + (2 if o in table else 3) + table.get(o, 1)
    return f, lambda i: (x(i), ob), [Keys(table, ob, 7), Keys(table, Thing(n=4), 7), Method(Thing, "__eq__", lambda s, o: False, ob)], None


@place
def default_dict():
    table = collections.defaultdict(list, a=[1])

    def f(x):
        table["b"].append(1)
        return x * len(table["a"]) + len(table.pop("b"))
    return f, lambda i: (x(i),), [Keys(table, "a", [1, 2])], table


@place
def ordered_dict():
    table = collections.OrderedDict(a=2, b=3)
    return lambda x: x * next(iter(table.values())), lambda i: (x(i),), [Keys(table, "a", 7)], table


@place
def elements():
    values = {1, 5, 9}
    return lambda x: x * sum(values) + (2 if 5 in values else 3), lambda i: (x(i),), [Keys(values, 5, None)], values


@place
def elements_that_are_objects():
    ob = Thing(n=1)
    values = {ob}
    return lambda x, o: x * (2 if o in values else 3), lambda i: (x(i), ob), [Keys(values, ob, None)], None


@place
def same_objects():
    pair = [Thing(n=1), Thing(n=1)]
    pair.append(pair[0])
    return (lambda x: x * (2 if pair[0] is pair[1] else 3) + (2 if pair[0] is pair[2] else 3), lambda i: (x(i),),
            [Items(pair, pair[1])], None)


@place
def written_objects():
    a, b = Thing(n=1), Thing(n=2)
    pair = [a, b]

    def f(x):
        pair[0].n = pair[1].n + 1
        pair[1].n = 2
        return x * pair[0].n
    return f, lambda i: (x(i),), [Items(pair, b), Items(pair, a), Attribute(a, "n", 9)], (a, b)


@place
def written_dicts():
    a, b = Thing(n=1), Thing(n=2)

    def f(x):
        a.n = 5
        b.n = 6
        return x * a.n

    def share():
        a.__dict__ = b.__dict__
    own = a.__dict__
    return f, lambda i: (x(i),), [Calls(lambda: setattr(a, "__dict__", own), sharing=share)], (a, b)


# ---- iterators ----


@place
def generator():
    values = [2, 3]

    def numbers(k):
        for v in values:
            yield v * k
    kept = {}

    def arguments(i):
        kept["made"] = numbers(2)
        if kept.pop("advance", False):
            next(kept["made"])
        return x(i), kept["made"]
    return (lambda x, g: sum(g, x)), arguments, [Items(values, 7), Function(numbers, lambda k: iter([k]).__iter__()),
                                                 Calls(lambda: None, advancing=lambda: kept.update(advance=True))], None


@place
def list_iterator():
    values, kept = [2, 3], {}

    def arguments(i):
        made = iter(values)
        if kept.pop("advance", False):
            next(made)
        return x(i), made
    return (lambda x, it: sum(it, x)), arguments, [Items(values, 7), Calls(lambda: None, advancing=lambda: kept.update(advance=True))], None


@place
def range_iterator():
    kept = {"n": 3}

    def arguments(i):
        made = iter(range(1, kept["n"]))
        if kept.pop("advance", False):
            next(made)
        return x(i), made
    return (lambda x, it: sum(it, x)), arguments, [Calls(lambda: kept.update(n=3), another_end=lambda: kept.update(n=5), advancing=lambda: kept.update(advance=True))], None


# ---- numbers ----


@place
def numbers():
    ob, _ = things(n=3)

    def f(x, n):
        ob.n = ob.n + n
        if n > 2 and not n == 9:
            x = x + 1
        return x * n - ob.n, f"{n} of {ob.n:>3}", -n, (n, max(n, 2)), [n, 1, 2].count(n)
    return f, lambda i: (x(i), i % 4), [Attribute(ob, "n", 50), Attribute(ob, "n", 2.5), Attribute(ob, "n", True)], ob


@place
def number_as_a_constant():
    ob, _ = things(n=1)
    return (lambda x, n: torch.cat([x] * n) * ob.n + len("a" * n)), lambda i: (x(i), 1 + i % 3), [Attribute(ob, "n", 5)], ob


@place
def drawn_numbers():
    source = random.Random(3)
    return (lambda x: x * source.random() + source.getrandbits(3)), lambda i: (x(i),), [
        Calls(lambda: None, seeding=lambda: source.seed(8), drawing=source.random)], None


@place
def text():
    ob, _ = things(s="ab")
    return lambda x, n: (x * len(ob.s), ob.s + f"{n}"), lambda i: (x(i), i % 5), [Attribute(ob, "s", "abc"), Attribute(ob, "s", b"ab")], ob


# ---- tensors, modules, modes ----


@place
def tensor():
    ob, _ = things(t=torch.ones(2, 3))
    changes = dict(
        transposing=lambda: setattr(ob, "t", torch.ones(3, 2).t()), widening=lambda: setattr(ob, "t", torch.ones(2, 3).double()),
        resizing=lambda: setattr(ob, "t", torch.ones(4, 3)), writing=lambda: ob.t.add_(1), requiring=lambda: setattr(ob, "t", torch.ones(2, 3, requires_grad=True)),
        a_part=lambda: setattr(ob, "t", torch.ones(5, 3)[1:3]), a_parameter=lambda: setattr(ob, "t", nn.Parameter(torch.ones(2, 3))),
        an_expanded_one=lambda: setattr(ob, "t", torch.ones(1, 3).expand(2, 3)))  # fmt: skip
    kept = ob.t
    return lambda x: (x * ob.t).sum(0) * ob.t.size(0), lambda i: (x(i),), [Calls(lambda: setattr(ob, "t", kept), **changes)], None


@place
def sizes():
    kept = {"n": 0}

    def arguments(i):
        return (torch.ones(2 + (i + kept["n"]) % 5, 3),)
    return lambda x: (x.sum(0) * x.size(0) + len(x) + x.shape[1], x.size(0), f"{len(x)} rows"), arguments, [Calls(lambda: kept.update(n=0), others=lambda: kept.update(n=3))], None


@place
def numbers_by_branches():
    ob, _ = things(n=3)

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
            return y * scale + z * ob.n
        return y - z * scale

    def row(i, k):
        return (torch.arange(3.0) + 1 + i * 0.125) * (1 if (i * 11 + 5 + i // 3) >> k & 1 else -1)
    return f, lambda i: [row(i, k) for k in range(3)], [Attribute(ob, "n", 5)], None


numbers_by_branches.calls = 48  # paths are joined when they have recurred


@place
def versions():
    t = torch.ones(3)
    return lambda x: x * t._version + t, lambda i: (x(i),), [Calls(lambda: None, writing=lambda: t.add_(1))], None


@place
def gradients():
    w = torch.ones(3, requires_grad=True)

    def f(x):
        (w * x).sum().backward()
        return w.grad * 2
    return f, lambda i: (x(i),), [Calls(lambda: None, clearing=lambda: setattr(w, "grad", None),
                                        assigning=lambda: setattr(w, "grad", torch.ones(3) * 9), filling=lambda: w.grad.zero_())], None


@place
def no_gradient():
    w = torch.ones(3, requires_grad=True)

    def f(x):
        (w * x).sum().backward()
        got, w.grad = w.grad, None
        return got
    return f, lambda i: (x(i),), [Calls(lambda: setattr(w, "grad", None), assigning=lambda: setattr(w, "grad", torch.ones(3) * 9))], None


@place
def memory_of_two():
    base = torch.zeros(6)
    ob, _ = things(a=base[:3], b=base[3:])

    def f(x):
        ob.a.add_(x)
        ob.b.mul_(2)
        return ob.a + ob.b
    a, b = ob.a, ob.b
    return f, lambda i: (x(i),), [Calls(lambda: vars(ob).update(a=a, b=b), overlapping=lambda: setattr(ob, "b", base[1:4]),
                                        same=lambda: setattr(ob, "b", ob.a), apart=lambda: setattr(ob, "b", torch.ones(3)),
                                        elsewhere=lambda: setattr(ob, "a", base[2:5]))], base


@place
def history():
    w = torch.ones(3, requires_grad=True)
    ob, _ = things(v=w.detach())

    def f(x):
        ob.v.mul_(1.5)
        return ob.v + x
    kept = ob.v
    return f, lambda i: (x(i),), [Calls(lambda: setattr(ob, "v", kept), a_view=lambda: setattr(ob, "v", torch.ones(2, 3)[0]),
                                        a_result=lambda: setattr(ob, "v", w * 2), a_view_of_a_result=lambda: setattr(ob, "v", (w * 2)[:]))], None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)
        for p in self.parameters():
            p.data.fill_(0.5)
        self.register_buffer("m", torch.ones(3))
        self.scale = 2

    def forward(self, x):
        return self.b(self.a(x) * self.scale) + self.m


@place
def network():
    net = Net()

    def swap():
        net.a, net.b = net.b, net.a
    class Other(Net):
        def forward(self, x):
            return x * 9

    def put_back():
        net.__class__ = Net
        vars(net).pop("forward", None)
        Net.forward, nn.Linear.forward, nn.Module.__call__ = forward, linear, call
        for hook in hooks:
            hook.remove()
        net.scale = 2
        net.m = kept
        net.train()
    forward, linear, call, kept, hooks = Net.forward, nn.Linear.forward, nn.Module.__call__, net.m, []
    changes = dict(
        swapping=swap, another_class=lambda: setattr(net, "__class__", Other), own_forward=lambda: setattr(net, "forward", lambda x: x * 7),
        forward_of_class=lambda: setattr(Net, "forward", lambda s, x: x * 3), forward_of_linear=lambda: setattr(nn.Linear, "forward", lambda s, x: x * 3),
        call_of_all=lambda: setattr(nn.Module, "__call__", lambda s, x: x * 11), a_hook=lambda: hooks.append(net.a.register_forward_hook(lambda m, a, o: o * 2)),
        a_hook_before=lambda: hooks.append(net.register_forward_pre_hook(lambda m, a: (a[0] * 2,))), a_number=lambda: setattr(net, "scale", 5),
        a_buffer=lambda: setattr(net, "m", torch.ones(3) * 4), replacing=lambda: setattr(net, "a", nn.Identity()),
        through_modules=lambda: net._modules.update(a=nn.Identity()), through_parameters=lambda: net.a._parameters.update(bias=None),
        another_parameter=lambda: setattr(net.a, "bias", nn.Parameter(torch.ones(3) * 3)), evaluating=net.eval,
        a_name_that_hides=lambda: vars(net).update(a=lambda x: x * 13))  # fmt: skip
    return lambda x: net(x), lambda i: (x(i),), [Calls(put_back, **changes)], None


@place
def modes():
    w = torch.ones(3, requires_grad=True)
    changes = dict(no_gradients=lambda: torch.set_grad_enabled(False), doubles=lambda: torch.set_default_dtype(torch.float64),
                   a_method=lambda: setattr(torch.Tensor, "square", lambda s: s * 5), an_operator=lambda: setattr(torch.Tensor, "__mul__", lambda s, o: s + o))

    def put_back():
        torch.set_grad_enabled(True)
        torch.set_default_dtype(torch.float32)
        torch.Tensor.square, torch.Tensor.__mul__ = square, times
    square, times = torch.Tensor.square, torch.Tensor.__mul__
    return lambda x: (x * w).square() + torch.ones(3), lambda i: (x(i),), [Calls(put_back, **changes)], None


@place
def parameters_operator():
    w = nn.Parameter(torch.ones(3))
    had = "__add__" in vars(nn.Parameter)

    def put_back():
        if not had and "__add__" in vars(nn.Parameter):
            del nn.Parameter.__add__
    return lambda x: w + x, lambda i: (x(i),), [Calls(put_back, an_operator=lambda: setattr(nn.Parameter, "__add__", lambda s, o: o * 5))], None


@place
def optimizer_state():
    w = torch.ones(3, requires_grad=True)
    sgd = torch.optim.SGD([w], lr=0.1, momentum=0.9)

    def f(x):
        sgd.zero_grad()
        (w * x).sum().backward()
        sgd.step()
        return w.detach() * 1
    group = sgd.param_groups[0]
    return f, lambda i: (x(i),), [Keys(group, "lr", 0.5), Keys(group, "momentum", 0.0), Keys(group, "nesterov", True),
                                  Calls(lambda: None, clearing=sgd.state.clear)], None


@place
def departing():
    log = []

    class Loud:
        def __del__(self):
            log.append(1)
    ob, _ = things(t=x(1), l=[x(1), x(2)])

    def f(x):
        ob.t = x * 2
        ob.l[0] = x * 3
        ob.l.clear()
        ob.l.extend([ob.t, x])
        return ob.t
    return f, lambda i: (x(i),), [Attribute(ob, "t", Thing(loud=Loud())), Items(ob.l, Thing(loud=Loud())), Calls(lambda: None, loud=lambda: setattr(ob, "t", Loud()))], log
