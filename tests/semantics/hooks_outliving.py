# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=op=*@4
"""Hooks that a frame puts on its own tensors, whose gradient is computed when it has returned."""
import sys

import terra
from _gradients import leaf
from _harness import main, program
from terra.autograd import Function


class Scale(Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None


class Kept:
    """The gradient of an inner tensor, as programs that look at activations keep it."""
    def __init__(self):
        self.gradient = None
        self.times = 0

    def keep(self, g):
        self.gradient = g.detach()
        self.times += 1


def later(f, again=False):
    """A call of f and then backward(), which is not captured itself."""
    def call(*arguments):
        here = sys._getframe()
        y = f(*arguments).sum()
        if again:
            y.backward(retain_graph=True)
        y.backward()
        return y.detach(), [a.grad for a in arguments if isinstance(a, terra.Tensor)]
    call.target = f
    return call


@program(calls=12, captures=6)
def activation_looked_at():
    kept, w = Kept(), leaf(2)
    def f(x):
        h = x * w
        h.register_hook(kept.keep)
        return (h * 2).sin() + h
    return later(f), lambda i: (leaf(i),), kept


@program(calls=12, captures=6)
def activation_scaled():
    def f(x, k):
        h = x * 3
        h.register_hook(lambda g: g * k)
        return h.exp() + x
    return later(f), lambda i: (leaf(i), 0.5 + i), None


@program(calls=12, captures=6)
def several_on_one_tensor():
    log = []
    def f(x):
        h = x * 3
        h.register_hook(lambda g: log.append(("first", g.sum().item())))
        h.register_hook(lambda g: g * 2)
        h.register_hook(lambda g: log.append(("last", g.sum().item())))
        return h.sin() * h
    return later(f), lambda i: (leaf(i),), log


@program(calls=12, captures=6)
def on_the_result():
    kept = Kept()
    def f(x):
        y = (x * 2).tanh()
        y.register_hook(kept.keep)
        return y
    return later(f), lambda i: (leaf(i),), kept


@program(calls=12, captures=6)
def on_one_after_the_other():
    log = []
    def f(x):
        a = x * 3
        a.register_hook(lambda g: log.append(("a", g.sum().item())))
        b = a.sin()
        b.register_hook(lambda g: g + 1)
        c = b * a
        c.register_hook(lambda g: log.append(("c", g.sum().item())))
        return c.exp() + b
    return later(f), lambda i: (leaf(i),), log


@program(calls=12, captures=6)
def on_a_view_and_its_base():
    log = []
    def f(x):
        h = x * 2
        v = h[1:]
        v.register_hook(lambda g: log.append(("view", g.tolist())))
        h.register_hook(lambda g: log.append(("base", g.tolist())))
        return (v * h[:2]).sin()
    return later(f), lambda i: (leaf(i),), log


@program(calls=12, captures=6)
def passed_twice():
    kept = Kept()
    def f(x):
        h = x * 2
        h.register_hook(kept.keep)
        return h.sin()
    return later(f, again=True), lambda i: (leaf(i),), kept


@program(calls=12, captures=6)
def beside_a_function():
    log = []
    def f(x, k):
        h = Scale.apply(x * 2, k)
        h.register_hook(lambda g: log.append(g.sum().item()))
        return Scale.apply(h.sin(), 3.0)
    return later(f), lambda i: (leaf(i), 1.5 + i), log


@program(calls=12, captures=6)
def differentiated_twice():
    log = []
    def f(x):
        h = x * x
        h.register_hook(lambda g: log.append(round(g.sum().item(), 4)))
        return (h * 2).sin() + h
    def call(x):
        here = sys._getframe()
        (g,) = terra.autograd.grad(f(x).sum(), x, create_graph=True)
        g.pow(2).sum().backward()
        return g.detach(), (x.grad * 100).round()  # its sums are taken in another order
    call.target = f
    return call, lambda i: (leaf(i),), log


@program(calls=16, captures=5)
def on_one_side_of_a_branch():
    kept = Kept()
    def f(x, watch):
        h = x * 2
        if watch:
            h.register_hook(kept.keep)
        return h.sin()
    return later(f), lambda i: (leaf(i), i % 2 == 0), kept


@program(calls=12, captures=6)
def never_asked():
    kept = Kept()
    def f(x):
        h = x * 2
        h.register_hook(kept.keep)
        return h.sin()
    def call(x, backward):
        here = sys._getframe()
        y = f(x)
        if backward:
            y.sum().backward()
        return y.detach(), x.grad
    call.target = f
    return call, lambda i: (leaf(i), i % 3 == 0), kept


@program(calls=12, captures=None, reason=26)
def changed_behind_the_hook():
    kept = Kept()
    def f(x):
        h = x * 2
        h.register_hook(kept.keep)
        h.mul_(3)
        return h.sin()
    return later(f), lambda i: (leaf(i),), kept


@program(calls=12, captures=None, reason=13)
def handle_kept():
    kept, handles = Kept(), []
    def f(x):
        h = x * 2
        handles.append(h.register_hook(kept.keep))
        return h.sin()
    def call(x, remove):
        here = sys._getframe()
        y = f(x)
        if remove:
            handles.pop().remove()
        y.sum().backward()
        return x.grad, len(handles)
    call.target = f
    return call, lambda i: (leaf(i), i % 2 == 0), kept


if __name__ == "__main__":
    main()
