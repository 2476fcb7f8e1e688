# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Gradients to which a region adds several terms, and others what comes behind it: bits tell in which order."""
import sys

import terra
from terra.nn import functional as F
from _harness import main, program


def t(i, *sizes):
    """Numbers whose sums round."""
    count = 1
    for n in sizes:
        count *= n
    return ((terra.arange(float(count)) * 0.7310585 + i * 0.31).sin() * 1.7).reshape(sizes)


def used_behind(f, behind, before=lambda h: h, pick=lambda r: r):
    """Calls f on a tensor that is used behind it as well, and takes the gradient outside."""
    def g(h, w):
        sys._getframe()  # nothing that a graph goes past
        h, w = h.detach().requires_grad_(), w.detach().requires_grad_()
        x = before(h)
        y = pick(f(x, w))
        ((y.sum() + behind(x, w, y)) / 3.7).backward()
        return h.grad, w.grad
    g.target = f
    return g, lambda i: (t(i, 5, 60), t(i + 9, 60)), None


def cosine(x, w, y):
    return x.cos().sum()


@program(calls=12, captures=8)
def two_uses_of_a_leaf():
    def f(x, w):
        return x.sin() + x.exp()
    return used_behind(f, cosine)


@program(calls=12, captures=8)
def three_uses_of_what_was_computed():
    def f(x, w):
        return x.sin() + x.exp() * w + x * w * w
    return used_behind(f, lambda x, w, y: (x.cos() * w).sum() + x.tanh().sum(), lambda h: h * 1.3)


@program(calls=12, captures=8)
def one_value_twice():
    def f(x, w):
        return x + x * w + x
    return used_behind(f, cosine, lambda h: h / 3)


@program(calls=12, captures=8)
def result_that_others_follow_from():
    def f(x, w):
        a = x.sin() * w
        return a, a.exp() + x * w
    return used_behind(f, lambda x, w, y: (y * w).sum(), pick=lambda r: r[0] * r[1])


@program(calls=12, captures=8)
def written_in_place():
    def f(x, w):
        y = x.clone()
        y[1:] *= w
        return y + x.exp()
    return used_behind(f, cosine, lambda h: h * 0.9)


@program(calls=12, captures=8)
def result_that_nobody_needs():
    """The halves of the first calls are for gradients of all results: then the region is computed again."""
    def f(x, w):
        return x.exp() * w, F.layer_norm(x, (60,), w, w * 0.1) + x.sin()
    return used_behind(f, cosine, pick=lambda r: r[1])


@program(calls=12, captures=8)
def results_needed_in_turn():
    def f(x, w, i):
        return x.exp() * w, F.layer_norm(x, (60,), w) + x.sin()
    def g(h, w, i):
        sys._getframe()  # nothing that a graph goes past
        h, w = h.detach().requires_grad_(), w.detach().requires_grad_()
        a, b = f(h, w, i)
        ((a.sum() if i % 3 == 0 else b.sum() if i % 3 == 1 else (a * b).sum()) + h.cos().sum() / 3).backward()
        return h.grad, w.grad
    g.target = f
    return g, lambda i: (t(i, 5, 60), t(i + 9, 60), i), None


@program(calls=12, captures=8)
def some_gradients_only():
    def f(x, w):
        return x.sin() * w + x.exp() + w.cos()
    def g(h, w):
        sys._getframe()  # nothing that a graph goes past
        h, w = h.detach().requires_grad_(), w.detach().requires_grad_()
        loss = (f(h, w).sum() + (h.cos() * w).sum()) / 3.7
        first = terra.autograd.grad(loss, [w], retain_graph=True)
        second = terra.autograd.grad(loss, [h], retain_graph=True)
        return first, second, terra.autograd.grad(loss, [h, w])
    g.target = f
    return g, lambda i: (t(i, 5, 60), t(i + 9, 60)), None


@program(calls=12, captures=8)
def gradients_with_a_history():
    def f(x, w):
        return x.sin() * w + x.exp() + w.cos()
    def g(h, w):
        sys._getframe()  # nothing that a graph goes past
        h, w = h.detach().requires_grad_(), w.detach().requires_grad_()
        loss = (f(h, w).sum() + (h.cos() * w).sum()) / 3.7
        first = terra.autograd.grad(loss, [h, w], create_graph=True)
        return [d.detach() for d in first]
    g.target = f
    return g, lambda i: (t(i, 5, 60), t(i + 9, 60)), None


if __name__ == "__main__":
    main()
