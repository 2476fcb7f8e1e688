# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=op=*@4
"""autograd.Function in the middle of a frame whose results are differentiated later, and results that others follow
from."""
import sys

import terra
from terra import nn
from terra.autograd import Function
from terra.autograd.function import once_differentiable
from _gradients import passed_twice
from _harness import main, program


def leaf(i, n=3, k=4):
    return ((terra.arange(float(n)) + i) / k).requires_grad_()


def t(i, n=3):
    return (terra.arange(float(n)) + i) / 7


class Swish(Function):
    @staticmethod
    def forward(ctx, x):
        y = x * terra.sigmoid(x)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        s = terra.sigmoid(x)
        return g * (s + y * (1 - s))


class Round(Function):
    """Straight through."""
    @staticmethod
    def forward(ctx, x, levels):
        return terra.round(x * levels) / levels

    @staticmethod
    def backward(ctx, g):
        return g, None


class Reverse(Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g.neg() * ctx.strength, None


class Two(Function):
    @staticmethod
    def forward(ctx, x, w, seen):
        ctx.seen_by = seen
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, w)
        which = (x > w).to(terra.int64)
        ctx.mark_non_differentiable(which)
        return x * w, x - w, which

    @staticmethod
    def backward(ctx, g, h, _):
        x, w = ctx.saved_tensors
        ctx.seen = (g is None, h is None, ctx.needs_input_grad)
        ctx.seen_by.append(ctx.seen)
        dx = dw = None
        if g is not None:
            dx, dw = g * w, (g * x if ctx.needs_input_grad[1] else None)
        if h is not None:
            dx = h if dx is None else dx + h
            dw = -h if dw is None else dw - h
        return dx, dw, None


def later(f, leaves=()):
    """Calls f and then backward(); not captured itself."""
    def call(*args):
        here = sys._getframe()
        y = f(*args)
        y.sum().backward()
        return y.detach(), y.grad_fn.name(), [a.grad for a in (*args, *leaves) if isinstance(a, terra.Tensor)]
    call.target = f
    return call


@program(calls=12, captures=8)
def activation_between_layers():
    w = leaf(1, 3, 2)
    def f(x):
        h = Swish.apply(x * w)
        return (h * w).sum()
    return later(f, [w]), lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def several_in_a_row_and_around():
    w = leaf(1, 3, 2)
    def f(x):
        h = x * w
        a = Swish.apply(h)
        b = Swish.apply(a + h)
        c = Swish.apply(h * 2) * b
        return a * b + c + h
    return later(f, [w]), lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def in_a_loop():
    ws = [leaf(i, 3, 5) for i in range(4)]
    def f(x):
        for w in ws:
            x = Swish.apply(x * w) + x
        return x
    return later(f, ws), lambda i: (leaf(i),), None


@program(calls=12, captures=6)
def in_loops_of_changing_length():
    w = leaf(1, 3, 5)
    def f(x, n):
        for _ in range(n):
            x = Swish.apply(x * w) + x
        return x * 2
    return later(f, [w]), lambda i: (leaf(i), 1 + i % 3), None


@program(calls=12, captures=8)
def order_of_the_passes():
    log = []
    class Named(Function):
        @staticmethod
        def forward(ctx, x, name):
            ctx.name = name
            return x * 2
        @staticmethod
        def backward(ctx, g):
            log.append((ctx.name, g.sum().item()))
            return g * 2, None
    def f(x):
        a = Named.apply(x * 3, "a")
        b = Named.apply(a + 1, "b")
        c = Named.apply(x.sin(), "c")
        d = Named.apply(x.cos(), "d")
        e = Named.apply(b + d, "e")
        return e * c + a, d
    def call(x, both):
        here = sys._getframe()
        y, d = f(x)
        (y.sum() + d.sum() if both else y.sum()).backward()
        return x.grad
    call.target = f
    return call, lambda i: (leaf(i), i % 3 == 0), log


@program(calls=12, captures=8)
def only_one_branch_is_asked_for():
    log = []
    class Logged(Function):
        @staticmethod
        def forward(ctx, x, name):
            ctx.name = name
            return x * 2
        @staticmethod
        def backward(ctx, g):
            log.append(ctx.name)
            return g * 2, None
    v = leaf(2)
    def f(x):
        return Logged.apply(x * 3, "x").sin(), Logged.apply(v * 3, "v").sin()
    def call(x, which):
        here = sys._getframe()
        v.grad = None
        y = f(x)[which]
        y.sum().backward()
        return x.grad, v.grad
    call.target = f
    return call, lambda i: (leaf(i), i % 2), log


@program(calls=12, captures=8)
def straight_through():
    w = leaf(1, 3, 2)
    def f(x, levels):
        return (Round.apply(x * w, levels) * w).sum()
    return later(f, [w]), lambda i: (leaf(i), 2.0 + i), None


@program(calls=12, captures=8)
def gradient_reversal():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.features, self.label, self.domain = nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(4, 1)
            for i, p in enumerate(self.parameters()):
                with terra.no_grad():
                    p.copy_((terra.arange(float(p.numel())).view(p.shape) + i).sin())
        def forward(self, x, strength):
            h = self.features(x).relu()
            return self.label(h), self.domain(Reverse.apply(h, strength))
    net = Net()
    optimizer = terra.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    def call(x, strength):
        here = sys._getframe()
        optimizer.zero_grad()
        label, domain = net(x, strength)
        loss = label.square().mean() + domain.sigmoid().mean()
        loss.backward()
        optimizer.step()
        return loss.item(), [p.detach().clone() for p in net.parameters()]
    call.target = Net.forward
    return call, lambda i: (t(i, 6).view(2, 3), 0.1 * i), None


@program(calls=24, captures=12)
def several_results_some_unused():
    w, seen = leaf(1), []
    def f(x, w, which):
        a, b, n = Two.apply(x * 2, w, seen)
        return (a.sin() + n, b.cos(), a * b)[which]
    def args(i):
        w.grad = None
        return leaf(i), w if i % 4 else w.detach(), i % 3
    return later(f), args, seen


@program(calls=12, captures=8)
def results_of_which_one_leaves():
    w, seen = leaf(1), []
    def f(x):
        a, b, n = Two.apply(x * 2, w, seen)
        return a.sin(), b
    def call(x, which):
        here = sys._getframe()
        w.grad = None
        a, b = f(x)
        (a.sum() if which == 0 else b.sum() if which == 1 else (a + b).sum()).backward()
        return x.grad, w.grad
    call.target = f
    return call, lambda i: (leaf(i), i % 3), seen


@program(calls=12, captures=8)
def create_graph_through_functions():
    w = leaf(2)
    def f(x):
        h = Swish.apply(x * w)
        return (h * x).sin() * w
    def call(x):
        here = sys._getframe()
        y = f(x)
        (g,) = terra.autograd.grad(y.sum(), x, create_graph=True)
        g.square().sum().backward()
        close = lambda v: (v * 1000).round()  # the terms of a second derivative come in another order
        out = y.detach(), g.detach(), close(x.grad), close(w.grad)
        w.grad = None
        return out
    call.target = f
    return call, lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def once_differentiable_function():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x
        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * g * x
    def f(x):
        return Once.apply(x * 3).exp()
    return later(f), lambda i: (leaf(i, 3, 50),), None


@program(calls=12, captures=8)
def retained_and_passed_twice():
    def f(x):
        return Swish.apply(x * 2).sin()
    return passed_twice(f), lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def saved_tensor_written_before_backward():
    def f(x):
        h = x * 2
        return h, Swish.apply(h).sin()
    def call(x, write):
        here = sys._getframe()
        h, y = f(x)
        if write:
            with terra.no_grad():
                h.add_(1)
        try:
            y.sum().backward()
        except RuntimeError as error:
            return str(error)[:80]
        return x.grad
    call.target = f
    return call, lambda i: (leaf(i), i % 3 == 1), None


@program(calls=12, captures=8)
def argument_is_a_result_too():
    def f(x):
        h = x.sin()
        y = Swish.apply(h)
        return h, y, y * h
    def call(x, which):
        here = sys._getframe()
        h, y, z = f(x)
        got = []
        h.register_hook(lambda g: got.append(g.clone()))
        y.retain_grad()
        (z.sum() + (h.sum() if which else 0)).backward()
        return x.grad, got, y.grad
    call.target = f
    return call, lambda i: (leaf(i), i % 2), None


@program(calls=12, captures=8)
def leaf_goes_to_the_function_itself():
    w = leaf(1)
    def f(x):
        return Swish.apply(w) * x + Swish.apply(w)
    return later(f, [w]), lambda i: (t(i),), None


@program(calls=12, captures=8)
def nothing_requires_gradients_at_times():
    def f(x):
        return Swish.apply(x * 2).sin() * x
    def call(x):
        here = sys._getframe()
        y = f(x)
        if y.requires_grad:
            y.sum().backward()
        return y.detach(), x.grad, y.requires_grad
    call.target = f
    return call, lambda i: (leaf(i) if i % 3 else t(i),), None


@program(calls=12, captures=8)
def many_runs_before_any_pass():
    w = leaf(1)
    def f(x):
        return Swish.apply(x * w).sin()
    kept = []
    def call(x):
        here = sys._getframe()
        kept.append(f(x))
        if len(kept) < 3:
            return None
        w.grad = None
        sum(y.sum() for y in kept).backward()
        kept.clear()
        return w.grad.clone()
    call.target = f
    return call, lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def saved_by_attribute_with_a_list():
    class Kept(Function):
        @staticmethod
        def forward(ctx, x, *powers):
            ctx.powers = list(powers)
            ctx.x = x.detach()
            return sum(x ** p for p in powers)
        @staticmethod
        def backward(ctx, g):
            return (g * sum(p * ctx.x ** (p - 1) for p in ctx.powers),) + (None,) * len(ctx.powers)
    def f(x):
        return Kept.apply(x * 2, 1, 2, 3).tanh()
    return later(f), lambda i: (leaf(i, 3, 20),), None


@program(calls=12, captures=8)
def random_numbers_between():
    def f(x):
        h = Swish.apply(terra.dropout(x * 2, 0.5, True))
        return terra.dropout(h, 0.5, True) * x
    def call(x, twice):
        here = sys._getframe()
        y = f(x)
        if twice:
            (g,) = terra.autograd.grad(y.sum(), x, create_graph=True)
            y = g + y
        y.sum().backward()
        return y.detach(), x.grad
    call.target = f
    def args(i):
        terra.manual_seed(i)
        return leaf(i), i % 3 == 1
    return call, args, None


# ---- hooks of the frame's own, called later


@program(calls=12, captures=6)
def hook_in_the_frame():
    log, w = [], leaf(1)
    def f(x, i):
        h = x * w
        h.register_hook(lambda g: log.append((i, g.sum().item())))
        k = h.tanh()
        k.register_hook(lambda g: g.clamp(-0.1 * i, 0.1))
        return (k * h).sum()
    return later(f, [w]), lambda i: (leaf(i), i), log


@program(calls=12, captures=6)
def hook_behind_the_first_use():
    def f(x):
        h = x.sin()
        k = h * 3
        h.register_hook(lambda g: g * 2)
        return k + h.exp()
    return later(f), lambda i: (leaf(i),), None


@program(calls=12, captures=6)
def method_as_a_hook_of_a_module():
    class Clip(nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.calls = nn.Parameter(t(1)), 0
        def forward(self, x):
            h = x * self.w
            if h.requires_grad:
                h.register_hook(self.clip)
            return h.relu().sum()
        def clip(self, g):
            self.calls += 1
            return g * self.calls
    module = Clip()
    def call(x):
        here = sys._getframe()
        module.w.grad = None
        module(x).backward()
        return module.w.grad, module.calls
    call.target = Clip.forward
    return call, lambda i: (t(i),), None


@program(calls=12, captures=None)
def handle_that_leaves():
    def f(x):
        h = x.sin()
        return h.exp(), h.register_hook(lambda g: g * 2)
    def call(x, remove):
        here = sys._getframe()
        y, handle = f(x)
        if remove:
            handle.remove()
        y.sum().backward()
        return x.grad
    call.target = f
    return call, lambda i: (leaf(i), i % 2), None


@program(calls=12, captures=None)
def handle_that_is_used():
    def f(x):
        h = x.sin()
        handle = h.register_hook(lambda g: g * 2)
        handle.remove()
        h.register_hook(lambda g: g * 3)
        return h.exp()
    return later(f), lambda i: (leaf(i),), None


@program(calls=12, captures=6)
def hook_and_function():
    log = []
    def f(x):
        h = Swish.apply(x * 2)
        h.register_hook(lambda g: log.append(g.sum().item()))
        return Swish.apply(h) * h
    return later(f), lambda i: (leaf(i),), log


@program(calls=12, captures=None)
def written_behind_the_hook():
    def f(x):
        h = x * 2
        h.register_hook(lambda g: g * 2)
        h.mul_(3)
        return h.sin()
    return later(f), lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def buffers_written_behind_a_function():
    counts, mean = terra.zeros(3), terra.zeros(3)
    def f(x):
        h = Swish.apply(x * 2)
        counts.add_(1)
        with terra.no_grad():
            mean.mul_(0.9).add_(h, alpha=0.1)
        return h * counts
    return later(f), lambda i: (leaf(i),), (counts, mean)


# ---- results that others follow from


@program(calls=12, captures=8)
def retained_gradient_of_an_activation():
    w = leaf(1)
    def f(x):
        h = (x * w).sin()
        return h, (h * h).sum()
    def call(x):
        here = sys._getframe()
        h, loss = f(x)
        h.retain_grad()
        loss.backward()
        return h.grad, x.grad
    call.target = f
    return call, lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def retained_in_the_frame():
    def f(x):
        h = x.sin()
        h.retain_grad()
        return h, (h * h).sum()
    def call(x):
        here = sys._getframe()
        h, loss = f(x)
        loss.backward()
        return h.grad, x.grad, h.retains_grad
    call.target = f
    return call, lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def hook_on_an_activation():
    def f(x):
        h = x.sin()
        k = h * x
        return h, k, (k * h).exp()
    def call(x, i):
        here = sys._getframe()
        h, k, y = f(x)
        h.register_hook(lambda g: g * 2 if i % 2 else None)
        k.register_hook(lambda g: g + 1)
        (y.sum() + (k.sum() if i % 3 else 0)).backward()
        return x.grad
    call.target = f
    return call, lambda i: (leaf(i), i), None


@program(calls=12, captures=8)
def gradient_for_an_activation():
    w = leaf(1)
    def f(x):
        h = (x * w).sin()
        k = h.exp()
        return h, k, k.square().sum()
    def call(x, i):
        here = sys._getframe()
        h, k, loss = f(x)
        if i % 3 == 0:
            return terra.autograd.grad(loss, [h, k, x])
        if i % 3 == 1:
            (g,) = terra.autograd.grad(loss, h, create_graph=True)
            return g.detach(), terra.autograd.grad(g.sum(), x)
        return terra.autograd.grad(k.sum(), [h, w])
    call.target = f
    return call, lambda i: (leaf(i), i), None


@program(calls=12, captures=8)
def all_states_of_a_recurrence():
    w = leaf(1, 3, 5)
    def f(x, h):
        states = []
        for _ in range(4):
            h = (h * w + x).tanh()
            states.append(h)
        return states
    def call(x, h, i):
        here = sys._getframe()
        states = f(x, h)
        for s in states:
            s.retain_grad()
        states[i % 4].sum().backward()
        return x.grad, [s.grad for s in states]
    call.target = f
    return call, lambda i: (leaf(i), t(i), i), None


@program(calls=12, captures=8)
def results_that_are_views_of_each_other():
    def f(x):
        h = x.sin()
        v = h[1:]
        return h, v, (v * v).sum() + h.sum()
    def call(x):
        here = sys._getframe()
        h, v, y = f(x)
        v.retain_grad()
        h.retain_grad()
        y.backward()
        return x.grad, h.grad, v.grad
    call.target = f
    return call, lambda i: (leaf(i),), None


@program(calls=12, captures=8)
def result_written_behind_another():
    def f(x):
        h = x * 2
        k = h + 1
        h.mul_(3)
        return h, k, (h * k).sum()
    def call(x):
        here = sys._getframe()
        h, k, y = f(x)
        h.retain_grad()
        k.retain_grad()
        y.backward()
        return x.grad, h.grad, k.grad
    call.target = f
    return call, lambda i: (leaf(i),), None


if __name__ == "__main__":
    main()
