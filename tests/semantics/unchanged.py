# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""What a call rests on changes after many calls in which it did not: each program changes another kind of thing."""
import terra
from terra import nn
from _harness import main, program

X = terra.arange(4.0)


def once(call, change):
    """args() that make a change before one call, long after the entry has settled into its short way."""
    def args(i):
        if i == call:
            change()
        return (X + i,)
    return args


@program(calls=16, captures=10)
def value_in_a_dict():
    table = {"scale": X + 1, "shift": X}

    def f(x):
        return x * table["scale"] + table["shift"]

    return f, once(9, lambda: table.update(scale=X - 5)), table


@program(calls=16, captures=10)
def key_that_was_absent():
    table = {"scale": X + 1}

    def f(x):
        return x * table.get("override", 2.0) + table["scale"]

    return f, once(9, lambda: table.update(override=7.0)), table


@program(calls=16, captures=10)
def item_of_a_list():
    layers = [X, X + 1, X + 2]

    def change():
        layers[1] = X - 9

    def f(x):
        return x * layers[0] + layers[1] * layers[2]

    return f, once(9, change), layers


@program(calls=18, captures=6)
def list_that_shrinks_and_grows():
    layers = [X, X + 1, X + 2]

    def args(i):
        if i == 8:
            layers.pop()
        if i == 13:
            layers.insert(0, X - 3)
        return (X + i,)

    def f(x):
        for layer in layers:
            x = x * 0.5 + layer
        return x

    return f, args, layers


@program(calls=16, captures=10)
def attribute_of_an_instance():
    class Holder:
        pass

    holder = Holder()
    holder.inner = Holder()
    holder.inner.weight = X

    def change():
        holder.inner = Holder()
        holder.inner.weight = X + 4

    def f(x):
        return x + holder.inner.weight

    return f, once(9, change), holder


@program(calls=16, captures=10)
def attribute_of_a_class_until_the_instance_has_one():
    class Holder:
        weight = X

    holder = Holder()

    def f(x):
        return x * holder.weight

    return f, once(9, lambda: setattr(holder, "weight", X + 3)), holder


@program(calls=16, captures=10)
def attribute_that_goes():
    class Holder:
        weight = X

    holder = Holder()
    holder.weight = X + 3

    def f(x):
        return x * holder.weight

    return f, once(9, lambda: delattr(holder, "weight")), holder


@program(calls=16, captures=10)
def tensor_of_a_class():
    class Holder:
        weight = X

    class Below(Holder):
        pass

    return lambda x: x * Below.weight + Below().weight, once(9, lambda: setattr(Holder, "weight", X + 3)), None


@program(calls=16, captures=10)
def method_of_a_class():
    class Twice:
        def act(self, x):
            return x * 2

    twice = Twice()

    def f(x):
        return twice.act(x) + 1

    return f, once(9, lambda: setattr(Twice, "act", lambda self, x: x * 3)), None


@program(calls=16, captures=10)
def class_of_an_instance():
    class Twice:
        def act(self, x):
            return x * 2

    class Thrice(Twice):
        def act(self, x):
            return x * 3

    one = Twice()
    return lambda x: one.act(x) + 1, once(9, lambda: setattr(one, "__class__", Thrice)), None


@program(calls=16, captures=10)
def dict_of_an_instance():
    class Holder:
        pass

    holder = Holder()
    holder.weight = X
    vars(holder)  # from now on it has a dict

    def f(x):
        return x - holder.weight

    return f, once(9, lambda: setattr(holder, "__dict__", {"weight": X * 5})), holder


@program(calls=16, captures=10)
def slot_of_an_instance():
    class Holder:
        __slots__ = ("weight",)

    holder = Holder()
    holder.weight = X

    def f(x):
        return x - holder.weight

    return f, once(9, lambda: setattr(holder, "weight", X * 5)), holder


@program(calls=16, captures=10)
def cell_of_a_closure():
    weight = X

    def change():
        nonlocal weight
        weight = X + 11

    def f(x):
        return x * weight

    return f, once(9, change), None


@program(calls=16, captures=10)
def global_variable():
    space = {"weight": X, "terra": terra}
    exec("def f(x):\n    return x + weight", space)
    return space["f"], once(9, lambda: space.update(weight=X * 2)), None


@program(calls=16, captures=10)
def code_and_defaults_of_a_callee():
    def act(x, by=2.0):
        return x * by

    def other(x, by=2.0):
        return x - by

    def args(i):
        if i == 7:
            act.__defaults__ = (5.0,)
        if i == 12:
            act.__code__ = other.__code__
        return (X + i,)

    return lambda x: act(x) + 1, args, None


@program(calls=24, captures=16)
def number_at_the_address_of_the_number_before():
    """A counter's ints die and are born at one address."""
    class Counter:
        def __init__(self):
            self.n = 1000

    counter = Counter()

    def args(i):
        counter.n += 1
        return (X + i,)

    return lambda x: x * counter.n, args, counter


@program(calls=24, captures=4)
def object_at_the_address_of_the_object_before():
    class Holder:
        def __init__(self, weight):
            self.weight = weight

    box = [Holder(X)]

    def args(i):
        if i % 4 == 3:
            box[0] = None
            box[0] = Holder(X + i)
        return (X + i,)

    return lambda x: x + box[0].weight, args, box


@program(calls=24, captures=4)
def tuple_at_the_address_of_the_tuple_before():
    box = [(X, 2.0)]

    def args(i):
        if i % 6 == 5:
            box[0] = None
            box[0] = (X + i, 3.0 if i % 12 == 5 else 2.0)
        return (X + i,)

    return lambda x: x * box[0][1] + box[0][0], args, box


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        for i, p in enumerate(self.parameters()):
            p.data.copy_(terra.arange(float(p.numel())).view_as(p) * 0.1 - i)

    def forward(self, x):
        return self.second(self.first(x).relu())


def module_programs():
    changes = {
        "layer_of_a_net": lambda net: setattr(net, "first", nn.Identity()),
        "layer_put_into_the_dict": lambda net: net._modules.update(first=nn.Identity()),
        "parameter_of_a_layer": lambda net: setattr(net.first, "weight", nn.Parameter(terra.eye(4))),
        "parameter_put_into_the_dict": lambda net: net.first._parameters.update(weight=nn.Parameter(terra.eye(4) * 2)),
        "data_of_a_parameter": lambda net: setattr(net.first.weight, "data", terra.eye(4) * 3),
        "data_of_another_shape": lambda net: (setattr(net.first.weight, "data", terra.ones(2, 4)),
                                              setattr(net.first.bias, "data", terra.ones(2)),
                                              setattr(net.second.weight, "data", terra.ones(4, 2))),
        "frozen_parameter": lambda net: net.second.requires_grad_(False),
        "no_parameter_that_requires_grad": lambda net: net.requires_grad_(False),
        "removed_bias": lambda net: setattr(net.first, "bias", None),
        "hook_on_a_layer": lambda net: net.first.register_forward_hook(lambda m, i, o: o + 1),
        "hook_before_a_layer": lambda net: net.second.register_forward_pre_hook(lambda m, i: (i[0] * 2,)),
        "forward_of_one_instance": lambda net: setattr(net.first, "forward", lambda x: x * 3),
        "double_precision": lambda net: net.double() and None,
    }
    for name, change in changes.items():
        def make(change=change):
            net = Net()

            def args(i):
                if i == 9:
                    change(net)
                dtype = next((p.dtype for p in net.parameters()), terra.float32)
                return ((X + i).to(dtype),)

            def f(x):
                y = net(x)
                return y, y.requires_grad

            return f, args, None
        make.__name__ = name
        program(calls=18, captures=9)(make)


module_programs()


@program(calls=20, captures=8)
def global_hook_that_comes_and_goes():
    net = Net()
    handles = []

    def args(i):
        if i == 9:
            handles.append(nn.modules.module.register_module_forward_hook(lambda m, inputs, out: out * 1.5))
        if i == 13:
            handles.pop().remove()
        return net, X + i

    return lambda net, x: net(x), args, None


@program(calls=20, captures=10)
def buffer_that_begins_to_require_grad():
    net = nn.BatchNorm1d(4)
    net.register_buffer("scale", terra.ones(4))

    def args(i):
        if i == 10:
            net.scale.requires_grad_()
        return net, X.view(1, 4).repeat(3, 1) + i + terra.arange(3.0).view(3, 1)

    def f(net, x):
        y = net(x) * net.scale
        return y.sum(), y.requires_grad

    return f, args, None


@program(calls=20, captures=8)
def two_instances_in_turn():
    nets = [Net(), Net()]
    nets[1].second.weight.data.mul_(-1)

    def args(i):
        return nets[i % 2], X + i

    return lambda net, x: net(x), args, None


if __name__ == "__main__":
    main()
