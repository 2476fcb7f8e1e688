"""Frames that do tensor work: forwards, branches on tensors, in-place writes, whole training steps."""
import sys

import terra
import terra.nn.functional as F
from _harness import main, program
from terra import nn


def t(i, n=3):
    return terra.arange(float(n)) + i


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        terra.manual_seed(1)
        self.layers = nn.ModuleList([nn.Linear(4, 5), nn.Linear(5, 5)])
        self.head = nn.Linear(5, 3)
        self.scale = 2.0
        self.count = 0
        self.register_buffer("mean", terra.zeros(3))

    def forward(self, x):
        self.count += 1
        for layer in self.layers:
            x = F.relu(layer(x))
        y = self.head(x) * self.scale
        if self.training:
            self.mean.mul_(0.9).add_(y.detach().mean(0), alpha=0.1)
        return y


def seen(net):
    return {k: v.tolist() for k, v in net.state_dict().items()}, net.count


class Seen:
    """Shows a model's state to the harness without its hooks and such."""
    def __init__(self, *models):
        self.models = models
    @property
    def __dict__(self):
        return {"state": [seen(m) for m in self.models]}


@program(captures=3)
def straight():
    def f(a, b):
        c = a + b
        return c * c - a
    return f, lambda i: (t(i), t(i + 1)), None


@program(calls=8, captures=4)
def inference():
    net = Net().eval()
    def f(x):
        with terra.no_grad():
            return net(x)
    return f, lambda i: (t(i, 8).view(2, 4),), Seen(net)


@program(calls=10, captures=4)
def training_flag():
    net = Net()
    def f(x):
        with terra.no_grad():
            return net(x)
    def args(i):
        net.train(i % 4 < 2)
        return t(i, 8).view(2, 4),
    return f, args, Seen(net)


@program(calls=10, captures=4)
def train_step():
    net = Net()
    opt = terra.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    def f(x, y):
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        return loss.item()
    return f, lambda i: (terra.sin(t(i, 8)).view(2, 4), terra.tensor([i % 3, 1])), Seen(net)


@program(calls=10, captures=4)
def train_step_adam():
    net = Net()
    opt = terra.optim.Adam(net.parameters(), lr=0.01, weight_decay=0.01)
    def f(x, y):
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        return loss.item()
    return f, lambda i: (terra.sin(t(i, 8)).view(2, 4), terra.tensor([i % 3, 1])), Seen(net)


@program(calls=10, captures=3)
def last_batch_is_smaller():
    net = Net()
    def f(x):
        with terra.no_grad():
            return net(x)
    return f, lambda i: (t(i, 8 if i % 5 != 4 else 4).view(-1, 4),), Seen(net)


@program(calls=8, captures=2)
def branch_on_tensor():
    def f(x):
        if x.sum() > 4:
            return x * 2, x.shape
        return x - 1, x.shape
    return f, lambda i: (t(i - 3),), None


@program(calls=8, captures=4)
def item_in_arithmetic():
    def f(x, total):
        s = x.sum().item()
        return total + s * 2
    return f, lambda i: (t(i), 0.5 * i), None


@program(calls=10, captures=2)
def written_aliases():
    def f(a, b):
        a += 1
        c = b * 2
        b -= a
        return a + b + c
    def args(i):
        base = t(i, 6)
        return (base, base) if i in (5, 8) else (base[:4][:3], base[2:][:3]) if i == 7 else (base[:3], base[3:])
    return f, args, None


@program(calls=10, captures=3)
def layer_replaced():
    net = Net().eval()
    def f(x):
        with terra.no_grad():
            return net(x)
    def args(i):
        if i == 5:
            terra.manual_seed(7)
            net.head = nn.Linear(5, 3)
        return t(i, 8).view(2, 4),
    return f, args, Seen(net)


@program(calls=8, captures=3)
def dict_of_tensors():
    def f(d):
        o = {k: v * 2 for k, v in d.items()}
        o["sum"] = d["a"] + d.get("b", 0)
        return o
    return f, lambda i: ({"a": t(i), "b": t(1)},), None


@program(calls=8, captures=4)
def state_kept_on_object():
    class Cell:
        def __init__(self):
            self.state = t(0)
            self.steps = 0
    cell = Cell()
    def f(x):
        cell.steps += 1
        cell.state = cell.state * 0.5 + x
        return cell.state * cell.steps
    return f, lambda i: (t(i),), cell


@program(calls=8, captures=3)
def python_sum_and_reduce():
    import functools
    def f(xs):
        return sum(x * 2 for x in xs), functools.reduce(lambda a, b: a * b, xs)
    return f, lambda i: ([t(i), t(1), t(2)],), None


@program(calls=8, captures=4)
def number_arguments():
    def f(x, n, s):
        return x * n + s, (x + n).clamp(max=5)
    return f, lambda i: (t(1), i, 0.5 * i), None


@program(captures=None)
def numpy_ends_it():
    def f(x):
        return float(x.numpy().sum())
    return f, lambda i: (t(i),), None


class Own(terra.Tensor):
    """What the harness sees of it is its name."""


@program(captures=None, reason=19)
def becomes_an_instance_of_a_subclass():
    def f(x):
        return (x * 2).as_subclass(Own)
    return f, lambda i: (t(i),), None


@program(captures=None, reason=19)
def argument_becomes_an_instance_of_a_subclass():
    def f(x, i):
        return x.as_subclass(Own) if i % 2 else x
    return f, lambda i: (t(i), 2 * (i // 4) + 1), None


@program(captures=None, reason=19)
def default_override_of_a_subclass():
    def f(x):
        return Own.__torch_function__(terra.add, (Own,), (x, 1)), x * 3
    return f, lambda i: (t(i),), None


@program(captures=2)
def results_that_nobody_has_written():
    """Linear algebra lays its results out before it computes them."""
    def f(x):
        square = x.outer(x) + terra.eye(3) * 9
        linalg = terra.linalg
        return (linalg.inv(square), linalg.solve(square, x), linalg.cholesky(square), linalg.eigh(square)[1],
                linalg.lstsq(square, x.reshape(3, 1))[0], linalg.matrix_exp(square * 0.1),
                linalg.solve_triangular(square, square, upper=True), linalg.lu(square)[1], linalg.qr(square)[0])
    def g(x):
        sys._getframe()  # nothing that a graph goes past
        return [result._version for result in f(x)]
    g.target = f
    return g, lambda i: (t(i),), None


@program(calls=12, captures=None, reason=4)
def attributes_read_by_functions_that_are_given():
    """Each of these is made anew by the look at it, and what it reads hangs on what it is bound to."""
    class Sub(terra.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return super().__torch_function__(func, types, args, kwargs or {})
    x = terra.ones(2).as_subclass(Sub)
    def f():
        here = sys._getframe()
        return str(x.dtype), tuple(x.shape), x.requires_grad, x.is_leaf
    f.target = Sub.__torch_function__.__func__
    return f, lambda i: (), None


if __name__ == "__main__":
    main()
