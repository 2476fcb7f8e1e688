# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=op=*@4
"""autograd.Function where gradients are computed after the frame has returned, and tensors whose data is assigned."""
import sys

import terra
from terra import nn
from terra.autograd import Function
from _gradients import passed_twice
from _harness import main, program


def leaf(i, n=3):
    return ((terra.arange(float(n)) + i) / 4).requires_grad_()


def t(i, n=3):
    return terra.arange(float(n)) + i


class Square(Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x * x * k

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x * ctx.k if ctx.needs_input_grad[0] else None, None


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return g * y


class Several(Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        best = (x * w).argmax()
        ctx.mark_non_differentiable(best)
        ctx.shape = x.shape
        return x * w, best, x + w

    @staticmethod
    def backward(ctx, g, _, h):
        x, w = ctx.saved_tensors
        assert g.shape == ctx.shape
        return g * w + h, g * x + h if ctx.needs_input_grad[1] else None


class InPlace(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2


def outside(f, leaves=()):
    """Calls f and backward(); not captured itself."""
    def call(*args):
        here = sys._getframe()
        y = f(*args)
        y.sum().backward()
        return y.detach(), y.grad_fn.name(), [a.grad for a in (*args, *leaves) if isinstance(a, terra.Tensor)]
    call.target = f
    return call


@program(calls=12, captures=8)
def result_leaves():
    return outside(lambda x: Square.apply(x, 3.0)), lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def number_of_the_function_changes():
    return outside(lambda x, k: Square.apply(x, k)), lambda i: (leaf(i), i * 0.5), None


@program(calls=12, captures=8)
def result_of_something_computed():
    w = leaf(1)
    return outside(lambda x: Square.apply(x * w + 1, 3.0), [w]), lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def saved_result():
    return outside(lambda x: Exp.apply(x * 2)), lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def something_follows():
    return outside(lambda x: Square.apply(x, 3.0).sin() * 2), lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def in_the_middle():
    return outside(lambda x: (Exp.apply(x * 2) + x).cos()), lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def one_after_the_other():
    return outside(lambda x: Exp.apply(Square.apply(x, 0.25))), lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def several_results():
    w = leaf(1)
    def f(x):
        a, best, b = Several.apply(x, w)
        return a + b * best
    return outside(f, [w]), lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def several_results_leave():
    w = leaf(1)
    def f(x, w):
        return Several.apply(x, w)
    def call(x, w):
        here = sys._getframe()
        a, best, b = f(x, w)
        (a * (best + 1)).sum().backward()
        return a.detach(), best, b.requires_grad, best.requires_grad, x.grad, w.grad
    call.target = f
    def args(i):
        w.grad = None
        return leaf(i), w if i % 3 else w.detach()
    return call, args, None


@program(calls=12, captures=8)
def in_a_module_with_an_optimizer():
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(t(1))
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return Square.apply(x * self.w, 0.01)
    layer = Layer()
    optimizer = terra.optim.SGD(layer.parameters(), lr=0.1)
    def call(x):
        here = sys._getframe()
        optimizer.zero_grad()
        layer(x).sum().backward()
        optimizer.step()
        return layer.w.detach().clone(), layer.calls
    call.target = Layer.forward
    return call, lambda i: (t(i),), None


@program(calls=12, captures=8)
def differentiated_twice():
    f = lambda x: Square.apply(x * 2, 3.0)
    def call(x):
        here = sys._getframe()
        y = f(x)
        (g,) = terra.autograd.grad(y.sum(), x, create_graph=True)
        (h,) = terra.autograd.grad(g.sum(), x)
        return y.detach(), g.detach(), h
    call.target = f
    return call, lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def backward_twice_and_once_too_often():
    f = lambda x: Square.apply(x * 2, 3.0)
    return passed_twice(f), lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def saved_input_written_before_backward():
    f = lambda x, y: Square.apply(y, 3.0)
    def call(x, write):
        here = sys._getframe()
        y = x * 2
        z = f(x, y)
        if write:
            with terra.no_grad():
                y.add_(1)
        try:
            z.sum().backward()
        except RuntimeError as error:
            return str(error)[:80]
        return x.grad
    call.target = f
    return call, lambda i: (leaf(i), i % 3 == 1), None


@program(calls=12, captures=8)
def requires_no_gradient_at_times():
    f = lambda x: Square.apply(x + 1, 3.0)
    def call(x):
        here = sys._getframe()
        y = f(x)
        if y.requires_grad:
            y.sum().backward()
        return y.detach(), x.grad, y.requires_grad
    call.target = f
    return call, lambda i: (leaf(i) if i % 3 else t(i),), None


@program(calls=12, captures=8)
def the_function_is_replaced():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2
    def args(i):
        if i == 5:
            Twice.backward = staticmethod(lambda ctx, g: g * 100)
        if i == 8:
            Twice.forward = staticmethod(lambda ctx, x: x * 3)
        return leaf(i),
    return outside(lambda x: Twice.apply(x * 2)), args, None


@program(calls=12, captures=8)
def backward_much_later():
    kept = []
    f = lambda x: Square.apply(x * 2, 3.0)
    def call(x, i):
        here = sys._getframe()
        kept.append((x, f(x)))
        if len(kept) < 4:
            return None
        total = sum(y.sum() for _, y in kept)
        total.backward()
        grads = [x.grad for x, _ in kept]
        kept.clear()
        return grads
    call.target = f
    return call, lambda i: (leaf(i), i), None


@program(calls=12, captures=8)
def logs_its_passes():
    log = []
    class Logged(Function):
        @staticmethod
        def forward(ctx, x):
            log.append("forward")
            ctx.note = "made"
            return x * 2

        @staticmethod
        def backward(ctx, g):
            log.append(("backward", ctx.note))
            return g * 2
    return outside(lambda x: Logged.apply(x + 1)), lambda i: (leaf(i),), log


@program(calls=12, captures=8, cut=26)
def written_behind_the_function():
    def f(x):
        y = x * 2
        z = Square.apply(y, 3.0)
        y.add_(1)
        return z, y
    def call(x):
        here = sys._getframe()
        z, y = f(x)
        y.sum().backward()
        try:
            z.sum().backward()
        except RuntimeError as error:
            return x.grad, str(error)[:60]
    call.target = f
    return call, lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def writes_to_its_argument():
    def f(x):
        y = x * 2
        return InPlace.apply(y)
    return outside(f), lambda i: (leaf(i),), None


@program(calls=12, captures=None, reason=26)
def writes_to_an_argument_from_outside():
    f = lambda y: InPlace.apply(y)
    def call(x):
        here = sys._getframe()
        y = x * 2
        z = f(y)
        z.sum().backward()
        return z is y, y.detach(), x.grad
    call.target = f
    return call, lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def data_of_a_moving_average():
    a, b = [nn.Parameter(t(1)), nn.Parameter(t(2, 2))], [nn.Parameter(t(3)), nn.Parameter(t(4, 2))]
    def f(x):
        for p, q in zip(a, b):
            p.data = 0.9 * p.data + 0.1 * q.data
        return x * 2
    def call(x):
        here = sys._getframe()
        memory = [p.data for p in a]
        y = f(x)
        y = y, [p * 2 for p in a], memory
        with terra.no_grad():
            for q in b:
                q.mul_(1.1)
        return y
    call.target = f
    return call, lambda i: (t(i),), (a, b)


@program(calls=12, captures=8, cut=26)
def data_assigned_and_used():
    p = nn.Parameter(t(1))
    def f(x):
        y = p * x + 1
        p.data = x.sin() * 2
        return (p * y).detach(), p
    return f, lambda i: (t(i),), p


@program(calls=12, captures=6)
def data_of_one_of_two():
    p, q = nn.Parameter(t(1)), nn.Parameter(t(2))
    def f(a, b, x):
        y = b * 2
        a.data = x * 3
        return y.detach()
    def args(i):
        return p, p if i % 4 == 1 else q, t(i)
    return f, args, (p, q)


if __name__ == "__main__":
    main()
