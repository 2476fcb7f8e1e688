# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Gradients in and around captured frames: backward, grad, .grad, flags, modes, in-place writes, views."""
import sys

import terra
import terra.nn.functional as F
from _gradients import Near, Net, Seen, leaf, t
from _harness import main, program
from terra import nn


# ---- backward ----

@program(calls=12, captures=8)
def accumulates_over_calls():
    w = leaf()
    def f(x):
        (w * x).sum().backward()
        return w.grad.sum().item()
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def gradient_argument():
    w = leaf()
    def f(x, g):
        (w * w * x).backward(g)
        return w.grad * 1
    return f, lambda i: (t(i), t(i + 5)), Seen(w)


@program(calls=12, captures=8)
def gradient_by_keyword():
    w = leaf()
    def f(x, g):
        (w * x).backward(gradient=g, retain_graph=False)
    return f, lambda i: (t(i), t(i + 5)), Seen(w)


@program(calls=12, captures=8)
def backward_into_some_inputs():
    w, v = leaf(1), leaf(2)
    def f(x):
        (w * v * x).sum().backward(inputs=[w])
        return v.grad
    return f, lambda i: (t(i),), Seen(w, v)


@program(calls=12, captures=8)
def backward_into_one_input():
    w, v = leaf(1), leaf(2)
    def f(x):
        y = w * v * x
        y.sum().backward(inputs=v)
        return w.grad is None
    return f, lambda i: (t(i),), Seen(w, v)


@program(calls=12, captures=8)
def backward_twice_retained():
    w = leaf(1)
    def f(x):
        y = (w * w * x).sum()
        y.backward(retain_graph=True)
        y.backward()
        return w.grad.clone()
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def several_roots():
    w, v = leaf(1), leaf(2)
    def f(x):
        a, b = (w * x).sum(), (v * w).sum()
        terra.autograd.backward([a, b])
        return a + b
    return f, lambda i: (t(i),), Seen(w, v)


@program(calls=12, captures=8)
def backward_with_create_graph():
    w = leaf(1)
    def f(x):
        w.grad = None
        (w * w * w * x).sum().backward(create_graph=True)
        g = w.grad
        w.grad = None
        (g * g).sum().backward()
        r = w.grad
        w.grad = None
        return r
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=None)
def backward_a_second_time_raises():
    w = leaf(1)
    def f(x):
        y = (w * w * x).sum()
        y.backward()
        try:
            y.backward()
        except RuntimeError as e:
            return str(e)[:30]
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=None, reason=26)
def loss_from_outside():
    w = leaf(1)
    def f(loss, k):
        loss.backward()
        return k * 2
    return f, lambda i: ((w * t(i)).sum(), t(i)), Seen(w)


# ---- autograd.grad ----

@program(calls=12, captures=8)
def grad_of_one():
    w = leaf(1)
    def f(x):
        g, = terra.autograd.grad((w * w * x).sum(), w)
        return g * 2, w.grad
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def grad_of_several():
    w, v = leaf(1), leaf(2)
    def f(x):
        y = (w * v * x).sum()
        return terra.autograd.grad(y, [w, v])
    return f, lambda i: (t(i),), Seen(w, v)


@program(calls=12, captures=8)
def grad_unused():
    w, v = leaf(1), leaf(2)
    def f(x):
        y = (w * x).sum()
        gw, gv = terra.autograd.grad(y, [w, v], allow_unused=True)
        return gw, gv is None
    return f, lambda i: (t(i),), Seen(w, v)


@program(calls=12, captures=8)
def grad_materialized():
    w, v = leaf(1), leaf(2)
    def f(x):
        y = (w * x).sum()
        return terra.autograd.grad(y, [w, v], materialize_grads=True)
    return f, lambda i: (t(i),), Seen(w, v)


@program(calls=12, captures=8)
def grad_with_outputs():
    w = leaf(1)
    def f(x, g):
        return terra.autograd.grad(w * w * x, w, grad_outputs=g)[0]
    return f, lambda i: (t(i), t(i + 4)), Seen(w)


@program(calls=12, captures=8)
def gradient_penalty():
    net = Net()
    weights = list(net.parameters())
    for p in weights:
        p.grad = terra.zeros_like(p)
    def f(x):
        x = x.detach().requires_grad_()
        y = net(x).pow(2).sum()
        g, = terra.autograd.grad(y, x, create_graph=True)
        loss = y + (g.norm(2) - 1) ** 2
        for p in weights:
            p.grad = None
        loss.backward()
        return round(loss.item(), 4)
    return f, lambda i: (t(i, 8).view(2, 4),), Near(net)


@program(calls=12, captures=8)
def grad_twice():
    w = leaf(1)
    def f(x):
        y = (w ** 3 * x).sum()
        g, = terra.autograd.grad(y, w, create_graph=True)
        h, = terra.autograd.grad(g.sum(), w)
        return g.detach(), h
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def grad_of_intermediate():
    w = leaf(1)
    def f(x):
        h = w * x
        y = (h * h).sum()
        return terra.autograd.grad(y, h)[0]
    return f, lambda i: (t(i),), Seen(w)


# ---- .grad ----

@program(calls=12, captures=8)
def grad_set_to_none():
    w = leaf(1)
    def f(x):
        w.grad = None
        (w * x).sum().backward()
        return w.grad is None, w.grad
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=6)
def grad_zeroed_in_place():
    w = leaf(1)
    def f(x):
        if w.grad is not None:
            w.grad.zero_()
        (w * x).sum().backward()
        return w.grad
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def grad_assigned():
    w = leaf(1)
    def f(x):
        w.grad = x * 2
        w.grad += 1
        (w * x).sum().backward()
        return w.grad
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=6)
def gradient_identity():
    w = leaf(1)
    def f(x):
        before = w.grad
        (w * x).sum().backward()
        return before is w.grad
    return f, lambda i: (t(i),), Seen(w)


@program(calls=14, captures=6)
def accumulate_every_k():
    net = Net()
    opt = terra.optim.SGD(net.parameters(), lr=0.1)
    step = [0]
    def f(x):
        loss = net(x).pow(2).mean() / 3
        loss.backward()
        step[0] += 1
        if step[0] % 3 == 0:
            opt.step()
            opt.zero_grad()
        return loss.item()
    return f, lambda i: (t(i, 8).view(2, 4),), Seen(net)


# ---- flags and modes ----

@program(calls=12, captures=8)
def requires_grad_inside():
    def f(x):
        y = x.clone().requires_grad_()
        (y * y).sum().backward()
        return y.grad, y.requires_grad, y.is_leaf
    return f, lambda i: (t(i),), None


@program(calls=12, captures=6)
def flag_flips_outside():
    w = leaf(1)
    def f(x):
        return (w * x).sum()
    def args(i):
        w.requires_grad = i % 4 < 2
        return t(i),
    return f, args, Seen(w)


@program(calls=12, captures=6)
def flag_flips_inside():
    w = leaf(1)
    def f(x):
        w.requires_grad_(False)
        a = w * x
        w.requires_grad = True
        b = w * x
        return a.requires_grad, b.requires_grad, a
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=6)
def layers_frozen_half_way():
    net = Net()
    opt = terra.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
    def f(x):
        opt.zero_grad()
        net(x).pow(2).sum().backward()
        opt.step()
    def args(i):
        if i == 6:
            for p in net.a.parameters():
                p.requires_grad_(False)
        return t(i, 8).view(2, 4),
    return f, args, Seen(net)


@program(calls=12, captures=8)
def no_grad_inside():
    w = leaf(1)
    def f(x):
        with terra.no_grad():
            a = w * x
        with terra.enable_grad():
            b = w * x
        (b * a).sum().backward()
        return a.requires_grad, terra.is_grad_enabled(), a
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def enable_inside_no_grad():
    w = leaf(1)
    def g(x):
        with terra.enable_grad():
            (w * x).sum().backward()
        return w * x
    def f(x):
        with terra.no_grad():
            return g(x).requires_grad
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def set_grad_enabled_by_argument():
    w = leaf(1)
    def f(x, on):
        with terra.set_grad_enabled(on):
            y = w * x
        return y.requires_grad, y.detach()
    return f, lambda i: (t(i), i % 3 == 0), Seen(w)


@program(calls=12, captures=8)
def detached():
    w = leaf(1)
    def f(x):
        h = w * x
        (h * h.detach()).sum().backward()
        d = h.detach()
        d += 1
        return d, h.detach()
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def data_read():
    w = leaf(1)
    def f(x):
        return w.data * x
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def data_updated():
    w = leaf(1)
    def f(x):
        w.grad = None
        (w * w * x).sum().backward()
        w.data -= 0.1 * w.grad
        return w.data.sum().item()
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def manual_update():
    w = leaf(1)
    def f(x):
        (w * w * x).sum().backward()
        with terra.no_grad():
            w.sub_(w.grad, alpha=0.1)
            w.grad = None
        return w.detach().clone()
    return f, lambda i: (t(i),), Seen(w)


# ---- in-place and views ----

@program(calls=12, captures=8)
def in_place_on_intermediate():
    w = leaf(1)
    def f(x):
        y = w * x
        y += x
        y.mul_(2)
        y.sum().backward()
        return y._version
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def view_written():
    w = leaf(1, 4)
    def f(x):
        y = w * x
        v = y[1:3]
        v.mul_(x[:2])
        (y * y).sum().backward()
        return v.detach().clone()
    return f, lambda i: (t(i, 4),), Seen(w)


@program(calls=12, captures=8)
def gradient_through_views():
    w = leaf(1, 6)
    def f(x):
        y = w.view(2, 3).t()[1:] @ x
        y.backward(terra.ones_like(y))
        return w.grad.view(3, 2)[0]
    return f, lambda i: (t(i, 2),), Seen(w)


@program(calls=12, captures=8)
def item_assignment():
    w = leaf(1, 4)
    def f(x):
        y = terra.zeros(4)
        y[1:] = w[1:] * x[1:]
        y[0] = 3.0
        (y * x).sum().backward()
        return y.detach()
    return f, lambda i: (t(i, 4),), Seen(w)


@program(calls=12, captures=None)
def in_place_after_save():
    w = leaf(1)
    versions = []
    def f(x, spoil):
        y = terra.exp(w * x)
        z = y.sum()
        if spoil:
            y.add_(1)
        try:
            z.backward()
        finally:
            versions.append((x._version, w._version))
    return f, lambda i: (t(i), True), (Seen(w), versions)


@program(calls=12, captures=None)
def leaf_written_in_place():
    w = leaf(1)
    def f(x):
        w.add_(x)
    return f, lambda i: (t(i),), Seen(w)


# ---- clipping, scaling, construction ----

@program(calls=12, captures=0)
def clip_by_norm():
    net = Net()
    opt = terra.optim.SGD(net.parameters(), lr=0.1)
    def f(x):
        opt.zero_grad()
        net(x).pow(2).sum().backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        opt.step()
        return norm.item()
    return f, lambda i: (t(i, 8).view(2, 4),), Seen(net)


@program(calls=12, captures=0)
def clip_by_value():
    net = Net()
    def f(x):
        net.zero_grad()
        net(x).pow(2).sum().backward()
        nn.utils.clip_grad_value_(net.parameters(), 0.1)
    return f, lambda i: (t(i, 8).view(2, 4),), Seen(net)


@program(calls=12, captures=8)
def loss_scaled():
    w = leaf(1)
    state = {"scale": 4.0, "good": 0}
    def f(x):
        w.grad = None
        ((w * x).sum() * state["scale"]).backward()
        w.grad.mul_(1.0 / state["scale"])
        if terra.isfinite(w.grad).all():
            with terra.no_grad():
                w.add_(w.grad, alpha=-0.1)
            state["good"] += 1
        return w.grad.sum().item()
    def args(i):
        if i % 3 == 2:
            state["scale"] *= 2.0
        return t(i),
    return f, args, (Seen(w), state)


@program(calls=12, captures=8)
def tensor_of_constants():
    w = leaf(1)
    def f(x):
        k = terra.tensor([1.0, 2.0, 3.0])
        (w * x * k).sum().backward()
        k += 1
        return k
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def tensor_of_outside_list():
    state = {"weights": [1.0, 2.0, 3.0], "flags": [True, False, True]}
    def f(x):
        k = terra.tensor(state["weights"], dtype=terra.float64)
        m = terra.tensor(state["flags"])
        return x * k, k, m, terra.tensor([[1, 2], [3, 4]]), terra.tensor([])
    def args(i):
        state["weights"][1] = 0.1 * i
        return t(i),
    return f, args, state


@program(calls=12, captures=8)
def tensor_that_requires_grad():
    def f(x):
        w = terra.tensor([0.5, 1.5, -1.0], requires_grad=True)
        (w * w * x).sum().backward()
        return w.grad, w.is_leaf, w
    return f, lambda i: (t(i),), None


@program(calls=12, captures=6)
def tensor_of_item():
    def f(x):
        n = x.sum().item()
        return terra.tensor(n) * 2, terra.tensor([n, 1.0])
    return f, lambda i: (t(i),), None


@program(calls=12, captures=6)
def tensor_of_changing_numbers():
    w = leaf(1)
    def f(x, a, n):
        k = terra.tensor(a * 0.5)
        m = terra.tensor([a, 2.0 * n, 3.0])
        return x * k + m, terra.tensor(n), terra.as_tensor(a)
    return f, lambda i: (t(i), 0.5 * i, i), Seen(w)


@program(calls=12, captures=4)
def parameters_shared():
    a = Net()
    b = Net(2)
    b.a.weight = a.a.weight
    b.b = a.b
    opt = terra.optim.SGD(list(dict.fromkeys([*a.parameters(), *b.parameters()])), lr=0.1)
    def f(x):
        opt.zero_grad()
        (a(x) * b(x)).sum().backward()
        opt.step()
    return f, lambda i: (t(i, 8).view(2, 4),), Seen(a, b)


@program(calls=12, captures=0)
def parameter_replaced():
    net = Net()
    def f(x):
        net.zero_grad()
        net(x).sum().backward()
        return net.a.weight.grad
    def args(i):
        if i == 5:
            net.a.weight = nn.Parameter(net.a.weight.detach() * 2)
        return t(i, 8).view(2, 4),
    return f, args, Seen(net)


@program(calls=12, captures=None)
def parameter_assigned_inside():
    net = Net()
    def f(x):
        net.b.bias = nn.Parameter(x.sum(0)[:3])
        return net(x)
    return f, lambda i: (t(i, 8).view(2, 4),), Seen(net)


@program(calls=16, captures=6)
def parameters_frozen_by_a_number():
    p, q = t(1).requires_grad_(), t(2).requires_grad_()
    def f(x, epoch):
        p.requires_grad_(epoch >= 2)
        p.grad = q.grad = None
        (x * p * q).sum().backward()
        return p.requires_grad, p.grad is None, q.grad
    return f, lambda i: (t(i), i % 4), (p, q)


def asked_again(f, then):
    """Calls f, and asks for gradients of what it has run the backward of."""
    def g(*given):
        here = sys._getframe()  # nothing that a graph goes past
        r = f(*given)
        try:
            return then(r, *given), given[0].requires_grad
        except RuntimeError as e:
            return str(e)
    g.target = f
    return g


@program(calls=12, captures=8)
def history_that_is_spent():
    w, other = t(1).requires_grad_(), t(2).requires_grad_()
    def f(x):
        y = x * w
        y.mean().backward()
        return y
    def then(y, x):
        unused = terra.autograd.grad(y.sum(), other, allow_unused=True)
        return unused, terra.autograd.grad(y.sum(), (other, w), allow_unused=True)
    return asked_again(f, then), lambda i: (t(i),), w


@program(calls=12, captures=8)
def spent_history_of_an_argument():
    w = t(1).requires_grad_()
    def f(b, x):
        v = w * x
        v.mean().backward()
        b += v
    def then(_, b, x):
        (b.sum() + w.sum()).backward()
    return asked_again(f, then), lambda i: (t(i), t(i + 1)), w


@program(calls=12, captures=8, cut=True)
def some_gradients_and_later_others():
    """What a pass on its way to some leaves has not gone past is there for the next one."""
    w = t(1).requires_grad_()
    def f(a):
        x = a * a
        first = terra.autograd.grad((x * w.tanh()).sum(), [w])
        return x, first
    def g(b):
        here = sys._getframe()  # nothing that a graph goes past
        b = b.clone().requires_grad_()
        x, first = f(b * 2)
        x.sum().backward()
        try:
            x.sum().backward()
        except RuntimeError as e:
            return first, b.grad, str(e)
    g.target = f
    return g, lambda i: (t(i),), w


@program(calls=12, captures=8)
def gradients_that_do_not_come_by():
    """The way to w doesn't lead through a, of which a first pass has freed all that it went past."""
    w = t(1).requires_grad_()
    def f(a):
        x = a * a
        (x * w).sum().backward()
        return x
    def g(b):
        here = sys._getframe()  # nothing that a graph goes past
        b = b.clone().requires_grad_()
        x = f(b)
        return terra.autograd.grad((x * w.tanh()).sum(), w), b.grad
    g.target = f
    return g, lambda i: (t(i),), w


@program(calls=12, captures=8)
def gradients_that_do_not_come_by_again():
    w = t(1).requires_grad_()
    def f(a):
        x = a * a
        return x, (x * w).sum()
    def g(b):
        here = sys._getframe()  # nothing that a graph goes past
        b = b.clone().requires_grad_()
        x, loss = f(b * 2)
        loss.backward()
        return terra.autograd.grad((x * w.tanh()).sum(), w), b.grad
    g.target = f
    return g, lambda i: (t(i),), w


@program(calls=12, captures=8)
def some_gradients_of_two_results():
    v, w = t(1).requires_grad_(), t(2).requires_grad_()
    def f(x):
        a, b = (x * v).sin(), (x * w).cos()
        return a * b, a
    def g(x):
        here = sys._getframe()  # nothing that a graph goes past
        both, a = f(x)
        shown = []
        for roots, leaf in ((a, v), (both, w), (a, v), (both, v), (both, w)):
            try:
                shown += terra.autograd.grad(roots.sum(), leaf)
            except RuntimeError as e:
                shown.append(str(e)[:30])
        return shown
    g.target = f
    return g, lambda i: (t(i),), None


@program(calls=12, captures=8)
def written_what_only_a_branch_read():
    w = t(1).requires_grad_()
    def f(a):
        if (a * w).sum() > -1e9:
            a = a * 2
        return a * a, a.sin()
    def g(b, i):
        here = sys._getframe()  # nothing that a graph goes past
        b = b.clone().requires_grad_()
        results = f(b)
        with terra.no_grad():
            w.mul_(0.5)
        results[i % 2].sum().backward()
        return b.grad
    g.target = f
    return g, lambda i: (t(i), i), w


@program(calls=12, captures=8)
def written_before_it_is_differentiated_again():
    w = t(1).requires_grad_()
    def f(x):
        return x * w
    def g(x):
        here = sys._getframe()  # nothing that a graph goes past
        y = f(x)
        with terra.no_grad():
            w.mul_(0.5)
        return terra.autograd.grad(y.sum(), w, create_graph=True)
    g.target = f
    return g, lambda i: (t(i),), w


if __name__ == "__main__":
    main()
