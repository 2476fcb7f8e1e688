# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Frames that return views: a write to one outside is a write to its base, gradients included."""
import sys

import terra
from _harness import main, program


def t(i, n=12):
    return terra.arange(float(n)) * 0.5 - i * 0.25


def written_outside(f, base, pick=lambda r: r):
    """Calls f on a tensor with a history, writes to the view that it returns and takes gradients through both."""
    def g(w):
        here = sys._getframe()  # nothing that a graph goes past
        w = w.detach().requires_grad_()
        p = base(w)
        view = pick(f(p))
        view.mul_(3.0)
        (p * p + view.sum()).sum().backward()
        return w.grad, p.detach(), view._base is None
    g.target = f
    return g, lambda i: (t(i),), None


@program(calls=12, captures=8)
def slice_of_an_argument():
    def f(p):
        return p[:, 1:]
    return written_outside(f, lambda w: (w * 2).reshape(3, 4))


@program(calls=12, captures=8)
def steps_of_an_argument():
    def f(p):
        return p.view(4, 3)[1:].t(), p * 2
    return written_outside(f, lambda w: w * 2, lambda r: r[0])


@program(calls=12, captures=8)
def overlapping_views():
    def f(p):
        return p[:8], p[4:]
    return written_outside(f, lambda w: w * 2, lambda r: r[1])


@program(calls=12, captures=8)
def view_of_a_view():
    """The base is what the argument is a view of."""
    def f(p):
        return p[1]
    def g(w):
        here = sys._getframe()  # nothing that a graph goes past
        w = w.detach().requires_grad_()
        whole = w * 2
        f(whole.view(3, 4).t()).mul_(3.0)
        (whole * whole).sum().backward()
        return w.grad
    g.target = f
    return g, lambda i: (t(i),), None


@program(calls=12, captures=8)
def view_of_a_result():
    def f(p):
        y = p * 2
        return y, y[2:5]
    def g(w):
        here = sys._getframe()  # nothing that a graph goes past
        w = w.detach().requires_grad_()
        y, view = f(w)
        view.mul_(3.0)
        (y * y).sum().backward()
        return w.grad, view._base is y
    g.target = f
    return g, lambda i: (t(i),), None


@program(calls=12, captures=8)
def history_arrives_later():
    """A buffer without gradients gets them from what is written to its part."""
    def f(buffer, i):
        return buffer[i : i + 4]
    def g(w):
        here = sys._getframe()  # nothing that a graph goes past
        w = w.detach().requires_grad_()
        buffer = terra.zeros(12)
        f(buffer, 4).add_(w[:4] * w[4:8])
        (buffer * 2).sum().backward()
        return w.grad, buffer.detach()
    g.target = f
    return g, lambda i: (t(i),), None


@program(calls=12, captures=8)
def written_inside_and_outside():
    def f(p):
        view = p[:4]
        view.add_(1.0)
        return view
    return written_outside(f, lambda w: w * 2)


@program(calls=12, captures=8)
def view_of_a_leaf():
    def f(w):
        return w[2:]
    def g(w):
        here = sys._getframe()  # nothing that a graph goes past
        w = w.detach().requires_grad_()
        try:
            f(w).mul_(2.0)
        except RuntimeError as e:
            return str(e)
    g.target = f
    return g, lambda i: (t(i),), None


@program(calls=12, captures=8)
def view_without_gradients():
    def f(w):
        return w[2:]
    def g(w):
        here = sys._getframe()  # nothing that a graph goes past
        w = w.detach().requires_grad_()
        with terra.no_grad():
            view = f(w)
            view.mul_(2.0)
        (w * w).sum().backward()
        return w.grad, view._base is w
    g.target = f
    return g, lambda i: (t(i),), None


@program(calls=12, captures=8)
def overlapping_views_of_what_nobody_else_sees():
    def f(w):
        y = w * 2
        return y[:8], y[4:]
    def g(w):
        here = sys._getframe()  # nothing that a graph goes past
        w = w.detach().requires_grad_()
        a, b = f(w)
        a.mul_(3.0)
        (b * b).sum().backward()
        return w.grad
    g.target = f
    return g, lambda i: (t(i),), None


@program(calls=12, captures=8)
def history_arrives_in_what_nobody_else_sees():
    """What is written to one view later concerns the other: they have elements in common."""
    def f(x):
        y = x * 2
        return y[:8], y[4:]
    def g(w):
        here = sys._getframe()  # nothing that a graph goes past
        a, b = f(w)
        w = w.detach().requires_grad_()
        a.mul_(w[:8])
        (b * b).sum().backward()
        return w.grad, a._base is b._base, b.is_leaf
    g.target = f
    return g, lambda i: (t(i),), None


@program(calls=12, captures=8)
def history_arrives_beside():
    """Views with nothing in common are views of one tensor, which all of them learn from."""
    def f(x):
        y = x * 2
        return y[:6], y[6:]
    def g(w):
        here = sys._getframe()  # nothing that a graph goes past
        a, b = f(w)
        w = w.detach().requires_grad_()
        a.mul_(w[:6])
        (b * b + a).sum().backward()
        return w.grad, b.requires_grad, b.is_leaf
    g.target = f
    return g, lambda i: (t(i),), None


@program(calls=12, captures=8)
def rows_in_one_place():
    def f(x):
        return (x * 2).expand(4, 12)
    def g(w):
        here = sys._getframe()  # nothing that a graph goes past
        y = f(w)
        w = w.detach().requires_grad_()
        y[1] = w * 3
        (y * y).sum().backward()
        return w.grad, y.detach()
    g.target = f
    return g, lambda i: (t(i),), None


@program(calls=12, captures=8)
def rows_in_one_place_beside_others():
    """Views with a history and nothing in common, one of which shows each element four times."""
    def f(w):
        y = w * 2
        return y[:6].expand(4, 6), y[6:]
    def g(w):
        here = sys._getframe()  # nothing that a graph goes past
        w = w.detach().requires_grad_()
        a, b = f(w)
        a[1] = w[6:] * 3
        (a * a + b).sum().backward()
        return w.grad, a.detach()
    g.target = f
    return g, lambda i: (t(i),), None


@program(calls=12, captures=8)
def views_side_by_side():
    def f(w):
        y = (w * 2).view(3, 4)
        return (*y.chunk(2, 1), )
    def g(w):
        here = sys._getframe()  # nothing that a graph goes past
        w = w.detach().requires_grad_()
        a, b = f(w)
        (b * b + a).sum().backward()
        return w.grad
    g.target = f
    return g, lambda i: (t(i),), None


def base_of(f):
    """Calls f with and without gradients and looks at what the view that it returns is a view of."""
    def g(w):
        here = sys._getframe()  # nothing that a graph goes past
        seen = []
        for x in w.detach(), w.detach().requires_grad_() * 2:
            view = f(x)
            base = view._base
            seen.append((view._is_view(), base.detach(), base.grad_fn and base.grad_fn.name(), view._version))
            view.mul_(2.0)
            seen.append((base.detach(), view.grad_fn and view.grad_fn.name(), base._version))
        return seen
    g.target = f
    return g, lambda i: (t(i),), None


@program(calls=12, captures=8)
def base_that_nobody_else_sees():
    def f(x):
        y = x * 2
        return y[2:]
    return base_of(f)


@program(calls=12, captures=8)
def base_of_what_was_written():
    def f(x):
        y = x * 2
        view = y.view(3, 4)[1:]
        view.add_(1.0)
        return view
    return base_of(f)


@program(calls=12, captures=8)
def view_of_what_was_written():
    def f(x):
        y = x * 2
        view = y.view(3, 4).t()
        y.add_(1.0)
        return view
    return base_of(f)


if __name__ == "__main__":
    main()
