# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Python that the tape calls: autograd.Function, hooks on gradients, retained gradients."""
import sys

import terra
from _gradients import Net, Seen, leaf, t
from _harness import main, program
from terra import nn
from terra.autograd import Function


class Scaled(Function):
    @staticmethod
    def forward(ctx, x, w, k):
        ctx.save_for_backward(x, w)
        ctx.k = k
        return x * w * k

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        gx = g * w * ctx.k if ctx.needs_input_grad[0] else None
        return gx, g * x * ctx.k if ctx.needs_input_grad[1] else None, None


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = terra.exp(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        y, = ctx.saved_tensors
        return g * y


class Straight(Function):
    @staticmethod
    def forward(ctx, x):
        return x.round().clamp(-1, 1)

    @staticmethod
    def backward(ctx, g):
        return g


class Both(Function):
    @staticmethod
    def forward(ctx, x):
        big, place = terra.max(x), x.argmax(0)
        ctx.mark_non_differentiable(place)
        ctx.n = x.shape[0]
        ctx.place = place
        return big, place

    @staticmethod
    def backward(ctx, g, _):
        return (terra.arange(ctx.n) == ctx.place) * g


class AddInPlace(Function):
    @staticmethod
    def forward(ctx, x, v):
        ctx.mark_dirty(x)
        x += v
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2, None


class WithSetup(Function):
    @staticmethod
    def forward(x, k):
        return x * k

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.k = inputs

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None


@program(calls=12, captures=8)
def function_with_saved_inputs():
    w = leaf(1)
    def f(x):
        w.grad = None
        Scaled.apply(x, w, 3).sum().backward()
        return w.grad
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=6)
def function_with_a_changing_number():
    w = leaf(1)
    def f(x, k):
        w.grad = None
        y = Scaled.apply(x, w, k)
        y.sum().backward()
        return y.detach()
    return f, lambda i: (t(i), 0.5 * i), Seen(w)


@program(calls=12, captures=8)
def function_with_saved_output():
    w = leaf(1)
    def f(x):
        y = Exp.apply(w * x)
        (y * y).sum().backward()
        return y.detach()
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def function_that_lies_about_its_gradient():
    w = leaf(1)
    def f(x):
        (Straight.apply(w * 3) * x).sum().backward()
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=6)
def function_with_two_results():
    w = leaf(1)
    def f(x):
        big, place = Both.apply(w * x)
        big.backward()
        return big.detach(), place, place.requires_grad
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=6)
def function_in_place():
    w = leaf(1)
    def f(x):
        h = w * x
        y = AddInPlace.apply(h, 2.0)
        y.sum().backward()
        return y is h, h.detach()
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def function_with_setup_context():
    w = leaf(1)
    def f(x):
        (WithSetup.apply(w, 2.0) * x).sum().backward()
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def function_in_no_grad():
    w = leaf(1)
    def f(x):
        with terra.no_grad():
            y = Scaled.apply(x, w, 2)
        return y, y.requires_grad
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def function_differentiated_twice():
    w = leaf(1)
    def f(x):
        y = Exp.apply(w * x)
        g, = terra.autograd.grad(y.sum(), w, create_graph=True)
        h, = terra.autograd.grad((g * g).sum(), w)
        return g.detach(), h
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def function_result_leaves():
    w = leaf(1)
    def forward(x):
        return Exp.apply(w * x)
    def f(x):
        here = sys._getframe()
        forward(x).sum().backward()
    f.target = forward
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=6)
def function_replaced():
    w = leaf(1)
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2
    def f(x):
        w.grad = None
        (Twice.apply(w) * x).sum().backward()
        return w.grad
    def args(i):
        if i == 5:
            Twice.backward = staticmethod(lambda ctx, g: g * 100)
        return t(i),
    return f, args, Seen(w)


@program(calls=12, captures=8)
def function_logs_its_calls():
    w = leaf(1)
    log = []
    class Loud(Function):
        @staticmethod
        def forward(ctx, x):
            log.append("forward")
            return x * 2

        @staticmethod
        def backward(ctx, g):
            log.append("backward")
            return g * 2
    def f(x):
        y = Loud.apply(w * x)
        log.append("between")
        y.sum().backward()
    return f, lambda i: (t(i),), (Seen(w), log)


@program(calls=12, captures=8)
def function_computes_its_gradient_by_the_tape():
    w = leaf(1)
    class Again(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x.detach())
            return terra.exp(x) * x

        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            with terra.enable_grad():
                x = x.detach().requires_grad_()
                y = terra.exp(x) * x
            y.backward(g)
            return x.grad
    def f(x):
        w.grad = None
        (Again.apply(w * x) * 2).sum().backward()
        return w.grad
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=None)
def function_raises_in_backward():
    w = leaf(1)
    class Broken(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise ValueError("no gradient")
    def f(x):
        try:
            Broken.apply(w * x).sum().backward()
        except ValueError as e:
            return str(e)
    return f, lambda i: (t(i),), Seen(w)


# ---- hooks on tensors ----

@program(calls=12, captures=8)
def hook_changes_gradient():
    w = leaf(1)
    def f(x):
        h = w * x
        h.register_hook(lambda g: g * 2)
        (h * h).sum().backward()
        return w.grad
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def hook_looks_at_gradient():
    w = leaf(1)
    seen = []
    def f(x):
        h = w * x
        h.register_hook(lambda g: seen.append(g))
        h.register_hook(lambda g: g + 1)
        h.register_hook(lambda g: seen.append(g * 1))
        (h * h).sum().backward()
    return f, lambda i: (t(i),), (Seen(w), seen)


@program(calls=12, captures=None, reason=26)
def hook_on_parameter_outside():
    w = leaf(1)
    w.register_hook(lambda g: g * 3)
    def f(x):
        (w * x).sum().backward()
        return w.grad
    return f, lambda i: (t(i),), Seen(w)


@program(calls=14, captures=4)
def hook_comes_and_goes():
    w = leaf(1)
    handles = []
    def f(x):
        (w * x).sum().backward()
        return w.grad
    def args(i):
        if i == 6:
            handles.append(w.register_hook(lambda g: g * 3))
        if i == 9:
            handles.pop().remove()
        return t(i),
    return f, args, Seen(w)


@program(calls=12, captures=None, reason=26)
def hook_registered_on_parameter_inside():
    w = leaf(1)
    def f(x):
        handle = w.register_hook(lambda g: g * 3)
        (w * x).sum().backward()
        handle.remove()
        return w.grad
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=6)
def hooked_result_leaves():
    w = leaf(1)
    def forward(x):
        h = w * x
        h.register_hook(lambda g: g * 3)
        return h * 2
    def f(x):
        here = sys._getframe()
        forward(x).sum().backward()
        return w.grad
    f.target = forward
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=4)
def post_accumulate_hook_outside():
    w = leaf(1)
    def f(x):
        (w * x).sum().backward()
        return w.grad is None
    def args(i):
        if i == 6:
            w.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))
        return t(i),
    return f, args, Seen(w)


@program(calls=12, captures=8)
def post_accumulate_hooks_in_turn():
    """Leaves come to their gradients one after another, whichever result it is that these are taken of."""
    leaves = [leaf(i) for i in range(5)]
    turns = []
    for i, w in enumerate(leaves):
        w.register_post_accumulate_grad_hook(lambda p, i=i: turns.append(i))
    def forward(x):
        a = terra.tanh(leaves[3] * x + leaves[0]) * leaves[2] - leaves[1]
        return a, terra.sin(leaves[4] * x) + leaves[2] * 2 + leaves[0] * 3
    def f(x, i):
        here = sys._getframe()
        a, b = forward(x)
        turns.clear()
        (a, b, a * b)[i].sum().backward()
        return list(turns)
    f.target = forward
    return f, lambda i: (t(i), i // 4), Seen(*leaves)


@program(calls=12, captures=8)
def hook_that_raises():
    """The leaves that came before have their gradients by then."""
    leaves = [leaf(i) for i in range(4)]
    def fail(g):
        raise KeyError("no")
    leaves[2].register_hook(fail)
    def forward(x):
        return (terra.exp(leaves[0] * x) + leaves[2] * x) * leaves[1] + leaves[3]
    def f(x):
        here = sys._getframe()
        for w in leaves:
            w.grad = None
        try:
            forward(x).sum().backward()
        except KeyError:
            return [w.grad is None for w in leaves]
    f.target = forward
    return f, lambda i: (t(i),), Seen(*leaves)


@program(calls=12, captures=8)
def gradient_retained():
    w = leaf(1)
    def f(x):
        h = w * x
        h.retain_grad()
        (h * h).sum().backward()
        return h.grad, h.retains_grad
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def gradient_retained_by_the_result():
    w = leaf(1)
    def forward(x):
        h = w * x
        h.retain_grad()
        return h
    def f(x):
        here = sys._getframe()
        h = forward(x)
        (h * h).sum().backward()
        return h.grad, h.retains_grad
    f.target = forward
    return f, lambda i: (t(i),), Seen(w)


# ---- versions ----

@program(calls=12, captures=8)
def versions_read():
    b = t(0)
    def f(x):
        before = b._version
        y = x * 2
        y += 1
        b.mul_(0.5)
        v = b[1:]
        v += 1
        return before, b._version, b._version - before, y._version, x._version, y
    return f, lambda i: (t(i),), Seen(b)


@program(calls=12, captures=8)
def version_of_the_result():
    def f(x):
        y = x * 2
        y += 1
        y[0] = 3
        return y
    def g(x):
        here = sys._getframe()
        return f(x)._version
    g.target = f
    return g, lambda i: (t(i),), None


# ---- hooks on modules ----

@program(calls=12, captures=8)
def forward_hooks():
    net = Net()
    seen = []
    net.a.register_forward_hook(lambda module, args, out: seen.append(out.detach().sum()))
    net.b.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    net.b.register_forward_hook(lambda module, args, out: out + 1)
    def f(x):
        with terra.no_grad():
            return net(x)
    return f, lambda i: (t(i, 8).view(2, 4),), seen


@program(calls=12, captures=5)
def forward_hook_added_later():
    net = Net()
    seen = []
    handles = []
    def f(x):
        with terra.no_grad():
            return net(x)
    def args(i):
        if i == 4:
            handles.append(net.a.register_forward_hook(lambda module, args, out: out * 2))
        if i == 8:
            handles.pop().remove()
        return t(i, 8).view(2, 4),
    return f, args, seen


if __name__ == "__main__":
    main()
