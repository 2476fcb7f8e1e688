# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""What a tensor is changes under its identity between calls: every way to do so, wherever a frame finds the tensor."""
import sys
import types

import terra
from _harness import main, program
from terra import nn

CALLS = 15
SIZES = (2, 3)


def numbers(i, *size):
    """Other numbers for each call, in memory of their own."""
    size = size or SIZES
    return terra.arange(float(terra.Size(size).numel())).reshape(size) * 0.5 + i


# ---- ways to change a tensor: (what it is at first, what happens before call i) -------------------------------------

def data(t, i):
    t.data = numbers(i)


def data_of_a_row(t, i):
    t.data = terra.stack([numbers(i), numbers(-i)])[i % 2]


def data_transposed_at_times(t, i):
    t.data = numbers(i, 3, 2).t() if i % 3 == 2 else numbers(i)


def data_of_other_sizes(t, i):
    t.data = numbers(i, 2 + i % 3, 3)


def data_of_another_dtype(t, i):
    t.data = numbers(i).double() if i % 4 == 3 else numbers(i)


def data_of_itself(t, i):
    t.data = t.data
    t.data += 1


def data_set(t, i):
    with terra.no_grad():
        t.set_(numbers(i))


def data_there_and_back(t, i):
    kept, t.data = t.data, numbers(i) * 2
    if i % 2:
        t.data = kept
        t.data += i


def swapped(t, i):
    if not hasattr(t, "other"):
        t.other = numbers(100)
    t.data, t.other.data = t.other.data, t.data
    t.other.data += 1


def resized(t, i):
    t.resize_(2 + i % 4, 3)
    t.fill_(i)


def resized_as(t, i):
    t.resize_as_(numbers(i, 3, 2 + i % 3)).copy_(numbers(i, 3, 2 + i % 3))


def transposed(t, i):
    t.t_()
    t.add_(i)


def transposed_by_dims(t, i):
    t.transpose_(0, 1)


def unsqueezed(t, i):
    t.unsqueeze_(0) if t.dim() == 2 else t.squeeze_(0)
    t.mul_(1.5)


def result_of_another_size(t, i):
    t.data = terra.empty(0)
    terra.add(numbers(i, 2 + i % 3, 3), 1, out=t)


def requires_grad_at_times(t, i):
    t.requires_grad_(i % 3 == 1)


def leaf_at_times(t, i):
    t.detach_()
    t.data = numbers(i)
    if i % 2:
        t.mul_(terra.ones(3, requires_grad=True))


def of_another_class(t, i):
    t.__class__ = nn.Parameter if i % 4 == 3 else terra.Tensor
    t.data = numbers(i)


def elements_only(t, i):
    with terra.no_grad():
        t.copy_(numbers(i))


def vector(t, i):
    nn.utils.vector_to_parameters(numbers(i).reshape(-1), [t])


def optimized(t, i):
    t.grad = numbers(1)
    terra.optim.SGD([t], lr=0.5).step()
    t.grad = None


WAYS = [data, data_of_a_row, data_transposed_at_times, data_of_other_sizes, data_of_another_dtype, data_of_itself,
        data_set, data_there_and_back, swapped, resized, resized_as, transposed, transposed_by_dims, unsqueezed,
        result_of_another_size, requires_grad_at_times, leaf_at_times, of_another_class, elements_only, vector, optimized]
GRADIENTS = [data, data_of_a_row, data_transposed_at_times, data_there_and_back, swapped, vector, optimized, data_set]


# ---- where the frame finds it: (the function, its arguments, what holds the tensor) ----------------------------------

def used(t):
    return (t * 2).sum(), t + 1, t.shape, t.is_contiguous()


def argument(t):
    def f(x):
        return used(x)
    return f, (t,), None


def global_variable(t):
    names = {"used": used, "tensor": t}
    f = types.FunctionType((lambda: used(tensor)).__code__, names)  # noqa: F821
    return f, (), names


def closure(t):
    def f(n):
        return used(t), n
    return f, (1,), t


def attribute(t):
    holder = types.SimpleNamespace(t=t)
    def f(h):
        return used(h.t)
    return f, (holder,), holder


def item_of_a_list(t):
    items = [1, t]
    def f(items):
        return used(items[1])
    return f, (items,), items


def value_in_a_dict(t):
    items = {"t": t}
    def f():
        return used(items["t"])
    return f, (), items


def default(t):
    def f(x=t):
        return used(x)
    return f, (), t


class Holding(nn.Module):
    def __init__(self, t):
        super().__init__()
        self.register_parameter("t", t) if isinstance(t, nn.Parameter) else self.register_buffer("t", t)

    def forward(self, n):
        return used(self.t), n


def in_a_module(t):
    module = Holding(t)
    def f(n):
        return module(n)
    return f, (1,), module


def two_of_them(t):
    other = numbers(7)
    def f(x):
        return used(x)[:2], used(other)[:2]
    return f, (t,), other


PLACES = [argument, global_variable, closure, attribute, item_of_a_list, value_in_a_dict, default, in_a_module, two_of_them]


def add(name, way, place, make, captures):
    def build():
        t = make()
        f, given, state = place(t)
        target = getattr(f, "target", f)
        target.__code__ = target.__code__.replace(co_name=name)  # an entry of its own
        def args(i):
            if i:
                way(t, i)
            return given
        return f, args, state
    build.__name__ = name
    program(calls=CALLS, captures=captures)(build)


for way in WAYS:
    for place in PLACES:
        add(f"{way.__name__}_in_{place.__name__}", way, place, lambda: numbers(0), 1)


# ---- the same of parameters that gradients are asked of --------------------------------------------------------------

def trained(module):
    module.zero_grad()
    loss = (module.t * terra.ones(3)).pow(2).sum()
    loss.backward()
    return loss.detach(), module.t.grad


def weights_of_a_module(t):
    module = Holding(t)
    def f(x):
        return trained(module), x * 2
    return f, (numbers(1),), module


def result_with_a_history(t):
    module = Holding(t)
    def forward(x):
        return x * module.t * module.t
    def f(x):
        here = sys._getframe()  # only `forward` is captured
        module.zero_grad()
        y = forward(x)
        y.sum().backward()
        return y.detach(), module.t.grad
    f.target = forward
    return f, (numbers(1),), module


for way in GRADIENTS:
    for place in weights_of_a_module, result_with_a_history:
        add(f"{way.__name__}_of_{place.__name__}", way, place, lambda: nn.Parameter(numbers(0)), 1)


@program(calls=CALLS, captures=1)
def replaced_in_the_module():
    net = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 2))
    def load(i):
        state = {name: terra.ones_like(p) * (i + k) for k, (name, p) in enumerate(net.named_parameters())}
        net.load_state_dict(state, assign=i % 2 == 1)
        if i % 4 == 2:
            net[0]._parameters["weight"] = nn.Parameter(numbers(i))
    def args(i):
        load(i)
        return (numbers(i),)
    return lambda x: net(x).detach(), args, net


@program(calls=40, captures=8, cut=True)
def sharpness_aware_steps():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    with terra.no_grad():
        for k, p in enumerate(net.parameters()):
            p.copy_(terra.arange(float(p.numel())).reshape(p.shape) * 0.1 - 0.2 * k)
    optimizer = terra.optim.SGD(net.parameters(), lr=0.1)
    def loss(x):
        return (net(x) - 1).pow(2).mean()
    def f(x):
        first = loss(x)
        first.backward()
        kept = {}
        with terra.no_grad():
            for p in net.parameters():
                kept[p] = p.data.clone()
                p.add_(p.grad * 0.5)
        optimizer.zero_grad()
        loss(x).backward()
        for p in net.parameters():
            p.data = kept[p]
        optimizer.step()
        optimizer.zero_grad()
        return first.detach()
    f.target = loss
    return f, lambda i: (numbers(i % 3),), net


if __name__ == "__main__":
    main()
