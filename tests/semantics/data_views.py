# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""tensor.data: the memory of a tensor without its history, changed behind the tape's back."""
import sys

import terra
from _harness import main, program
from terra import nn


def t(n):
    return terra.arange(4.0) * 0.5 + n


@program(calls=14, captures=9)
def update_by_hand():
    w = t(1).requires_grad_()
    def f(x, lr):
        loss = ((w * x) ** 2).sum()
        loss.backward()
        w.data -= lr * w.grad.data
        w.grad.data.zero_()
        return loss.data, loss.data.requires_grad
    return f, lambda i: (t(i) * 0.1, 0.01 * (1 + i)), w


@program(calls=12, captures=8)
def clamped_weights():
    terra.manual_seed(0)
    net = nn.Linear(4, 3)
    def f(limit, x):
        for p in net.parameters():
            p.data.clamp_(-limit, limit)
        return net(x).detach() * 2
    return f, lambda i: (0.5 / (1 + i), t(i)), net


@program(calls=12, captures=8)
def versions_of_its_own():
    """Each x.data has one that begins anew, and shares it with its views."""
    def f(x, n):
        a, b, c = x.data, x.data, (x * 2).data
        row = a[1:]
        a *= n
        row += 1
        c.add_(b)
        x.mul_(2)
        return a, b, c, row, c[:2]
    def g(x, n):
        here = sys._getframe()  # f is recorded on its own
        made = f(x, n)
        first = [m._version for m in made]
        made[3].zero_()
        return made, first, [m._version for m in made], x._version
    g.target = f
    return g, lambda i: (t(i), i), None


@program(calls=12, captures=4)
def version_of_what_rounds_write():
    def f(x, n):
        z = x.data
        for _ in range(n):
            z *= 2
        return z
    def g(x, n):
        here = sys._getframe()
        z = f(x, n)
        return z, z._version, x._version
    g.target = f
    return g, lambda i: (t(i), 2 + i % 5), None


@program(calls=12, captures=8)
def versions_do_not_count_it():
    w = t(1).requires_grad_()
    def f(x):
        before = w._version
        w.data.mul_(0.9)
        w.data[1] = x[0]
        middle = w._version
        with terra.no_grad():
            w.add_(1)
        return w._version - before, middle - before
    return f, lambda i: (t(i),), w


@program(calls=12, captures=8)
def saved_before_the_change():
    """The tape does not see it: the gradient is taken at the new values."""
    w = t(1).requires_grad_()
    def f(x):
        w.grad = None
        loss = (w * w * x).sum()
        w.data.add_(1)
        loss.backward()
        return loss, w.grad
    return f, lambda i: (t(i),), w


@program(calls=12, captures=8)
def data_that_leaves():
    def f(x):
        y = x * 2
        d = y.data
        d.add_(1)
        return y, d, x.data
    return f, lambda i: (t(i),), None


@program(calls=12, captures=None)
def data_replaced():
    w = t(1).requires_grad_()
    def f(x):
        w.data = w.data * 0.5 + x
        return w * 2
    return f, lambda i: (t(i),), w


if __name__ == "__main__":
    main()
