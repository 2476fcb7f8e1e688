# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_SELF_CHECK=all
"""Captured frames whose results keep a history: a forward and a backward graph joined by one node of the tape."""
import sys

import terra
import terra.nn.functional as F
from _gradients import Seen, leaf, t
from _harness import main, program


def around(forward, *weights):
    """A frame `forward` whose result is differentiated by a caller that is never captured: it looks at its frame."""
    def f(x, g):
        here = sys._getframe()
        y = forward(x)
        y.backward(g)
        for w in weights:
            if w.grad is not None:
                w.grad.mul_(0.5)
        return y.detach()
    f.target = forward
    return f


@program(calls=12, captures=8)
def pair():
    w = leaf(1)
    def forward(x):
        return terra.exp(w * x) * w
    return around(forward, w), lambda i: (t(i), t(i + 3)), Seen(w)


@program(calls=12, captures=8)
def pair_backward_twice():
    w = leaf(1)
    def forward(x):
        return terra.exp(w * x)
    def f(x):
        here = sys._getframe()
        y = forward(x).sum()
        y.backward(retain_graph=True)
        y.backward()
        try:
            y.backward()
        except RuntimeError as e:
            return str(e)
    f.target = forward
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def pair_partial_tangents():
    w, v = leaf(1), leaf(2)
    def forward(x):
        return w * w * x, v * v * x
    def f(x, which):
        here = sys._getframe()
        w.grad = v.grad = None
        forward(x)[which].sum().backward()
        return w.grad is None, v.grad is None
    f.target = forward
    return f, lambda i: (t(i), i % 2), Seen(w, v)


@program(calls=12, captures=8)
def pair_double_backward():
    w = leaf(1)
    def forward(x):
        return terra.exp(w * x) * w
    def f(x):
        here = sys._getframe()
        y = forward(x).sum()
        g, = terra.autograd.grad(y, w, create_graph=True)
        h, = terra.autograd.grad(g.sum(), w)
        return g.detach(), h
    f.target = forward
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def pair_double_backward_partial():
    w, v = leaf(1), leaf(2)
    def forward(x):
        return w ** 3 * x, v ** 3 * x
    def f(x, which):
        here = sys._getframe()
        y = forward(x)[which].sum()
        g = terra.autograd.grad(y, [w, v], create_graph=True, allow_unused=True)
        return [k is None for k in g], terra.autograd.grad(g[which].sum(), (w, v)[which])
    f.target = forward
    return f, lambda i: (t(i), i % 2), Seen(w, v)


@program(calls=12, captures=8)
def pair_parts_backward_apart():
    w, v = leaf(1), leaf(2)
    def forward(x):
        h = terra.exp(w * x)
        return h * v, h * 2, v * v
    def f(x, order):
        here = sys._getframe()
        outs, told = forward(x), []
        for k in order:
            try:
                outs[k].sum().backward()
                told.append((k, w.grad is None, v.grad is None))
            except RuntimeError as e:
                told.append((k, str(e)[:40]))
        return told
    f.target = forward
    return f, lambda i: (t(i), [(0, 1), (1, 2), (2, 0), (0, 0), (2, 1, 2)][i % 5]), Seen(w, v)


@program(calls=12, captures=8)
def pair_with_buffer_written():
    w, b = leaf(1), t(9)
    def forward(x):
        b.mul_(0.5).add_(x)
        return w ** 3 * b.detach().clone()
    def f(x):
        here = sys._getframe()
        y = forward(x).sum()
        g, = terra.autograd.grad(y, w, create_graph=True)
        return g.detach(), terra.autograd.grad(g.sum(), w)
    f.target = forward
    return f, lambda i: (t(i),), Seen(w, b)


@program(calls=12, captures=8)
def pair_third_derivative():
    w = leaf(1)
    def forward(x):
        return terra.exp(w * x)
    def f(x):
        here = sys._getframe()
        y = forward(x).sum()
        a, = terra.autograd.grad(y, w, create_graph=True)
        b, = terra.autograd.grad(a.sum(), w, create_graph=True)
        c, = terra.autograd.grad(b.sum(), w)
        return a.detach(), b.detach(), c
    f.target = forward
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def pair_double_backward_through_gradient():
    w = leaf(1)
    def forward(x):
        return terra.sin(w * x)
    def f(x):
        here = sys._getframe()
        u = leaf(4)
        g, = terra.autograd.grad(forward(x), w, u, create_graph=True)
        return terra.autograd.grad((g * g).sum(), [u, w])
    f.target = forward
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def pair_double_backward_random():
    w = leaf(1)
    def forward(x):
        return F.dropout(w ** 3 * x, 0.5)
    def f(x):
        here = sys._getframe()
        y = forward(x).sum()
        g, = terra.autograd.grad(y, w, create_graph=True)
        h, = terra.autograd.grad(g.sum(), w)
        return g.detach(), h, terra.rand(2)
    f.target = forward
    def args(i):
        terra.manual_seed(i)
        return t(i),
    return f, args, Seen(w)


@program(calls=12, captures=8)
def pair_grad_fn_names():
    w = leaf(1)
    def forward(x):
        return w * x, terra.exp(w), w + x
    def f(x):
        here = sys._getframe()
        return [(y.grad_fn.name(), y.is_leaf) for y in forward(x)]
    f.target = forward
    return f, lambda i: (t(i),), Seen(w)


@program(calls=12, captures=8)
def pair_hook_on_result():
    w = leaf(1)
    seen = []
    def forward(x):
        return w * x
    def f(x):
        here = sys._getframe()
        y = forward(x)
        y.register_hook(lambda g: seen.append(g.sum().item()) or g * 2)
        y.retain_grad()
        (y * y).sum().backward()
        return y.grad
    f.target = forward
    return f, lambda i: (t(i),), (Seen(w), seen)


@program(calls=12, captures=8)
def pair_saved_input_written():
    w = leaf(1)
    def forward(x):
        return w * x
    def f(x, spoil):
        here = sys._getframe()
        y = forward(x).sum()
        if spoil:
            x += 1
        y.backward()
    f.target = forward
    return f, lambda i: (t(i), i % 4 == 3), Seen(w)


@program(calls=12, captures=8)
def pair_input_with_history():
    w, v = leaf(1), leaf(2)
    def forward(h):
        return h * w
    def f(x):
        here = sys._getframe()
        h = v * x
        y = forward(h) + h
        y.sum().backward()
        return y.detach()
    f.target = forward
    return f, lambda i: (t(i),), Seen(w, v)


@program(calls=12, captures=8)
def gradients_that_come_transposed():
    # The graph's gradients lie in rows whatever comes: sums must not depend on that (exactly: TERRA_EXACT).
    w = (terra.arange(96.0).view(8, 12) * 0.37).sin().requires_grad_()
    b = terra.zeros(8, requires_grad=True)
    c = (terra.arange(8 * 300.0) * 0.71).sin().view(8, 300)
    def layer(x):
        return x @ w.t() + b
    def f(x):
        here = sys._getframe()  # nothing that a graph goes past
        w.grad = b.grad = None
        (layer(x).t() * c).sum().backward()
        return w.grad, b.grad
    f.target = layer
    return f, lambda i: ((terra.arange(3600.0) * (0.11 + i)).sin().view(300, 12),), None


if __name__ == "__main__":
    main()
