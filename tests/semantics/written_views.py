"""Writes to memory that others see too, while gradients are kept: a write to a view belongs to the history of its base,
and so to that of every other view."""
import terra
from _harness import main, program


def leaf(i):
    return (terra.arange(4.0) + i).requires_grad_()


def gradient_of(w, *losses):
    (sum(losses) + 0 * w.sum()).backward()
    gradient, w.grad = w.grad, None
    return gradient


def written(f, view):
    """Called with a view of what the gradient is asked of."""
    def g(w):
        z = w * 3
        f(view(z))
        return gradient_of(w, (z * z).sum())
    g.target = f
    return g


@program(calls=8, captures=0)
def argument_that_is_a_slice():
    def f(a):
        a.mul_(2)
    return written(f, lambda z: z[:2]), lambda i: (leaf(i),), None


@program(calls=8, captures=0)
def argument_that_is_reshaped():
    def f(a):
        a[0] = 0.5
        a[1:].exp_()
    return written(f, lambda z: z.view(2, 2)), lambda i: (leaf(i),), None


@program(calls=12, captures=3)
def argument_that_is_a_view_later():
    def f(a):
        a.mul_(2)
        return a + 1
    def g(w, whole):
        z = w * 3
        y = f(z.clone() if whole else z[:2])
        return gradient_of(w, (z * z).sum(), y.sum())
    g.target = f
    return g, lambda i: (leaf(i), i < 6 or i % 2), None


@program(calls=8, captures=0)
def two_arguments_that_share_memory():
    def f(a, b):
        a.mul_(2)
        return b * 3
    def g(w):
        z = w * 3
        return gradient_of(w, f(z[:3], z[1:]).sum(), z.sum())
    g.target = f
    return g, lambda i: (leaf(i),), None


@program(calls=8, captures=4)
def argument_that_gradients_do_not_reach():
    def f(row, x):
        row.copy_(x * 2)
        return row + 1
    table = terra.zeros(2, 4)
    return f, lambda i: (table[i % 2], terra.arange(4.0) + i), table


@program(calls=8, captures=4)
def views_that_are_told_late():
    """A write through one view, which brings a history, and questions to another that was there before."""
    def f(x):
        return x * 2
    def g(w):
        z = terra.zeros(2, 4)
        row, other = z[1], z.view(8)
        row[:2] += w[:2]
        told = row.requires_grad, other.requires_grad, z.requires_grad
        return told, gradient_of(w, f(row).pow(2).sum(), (other * other).sum())
    g.target = f
    return g, lambda i: (leaf(i),), None


@program(calls=8, captures=0)
def both_arguments_are_views():
    """The other one is there while the first is written."""
    def f(a, b, w):
        x = a * 1
        a.index_put_((terra.tensor([0, 1]),), w[:2], accumulate=True)
        return x, b
    def g(w):
        z = (terra.arange(5.0) - 2).sin()
        x, b = f(z[:-1], z[1:], w)
        return b.requires_grad, b.is_leaf, gradient_of(w, (b * b).sum())
    g.target = f
    return g, lambda i: (leaf(i),), None


@program(calls=8, captures=0)
def row_of_an_expanded_argument():
    """All rows are in one place."""
    def f(x, y):
        z = x.detach()
        z[1] -= y
        return x * 2
    return f, lambda i: ((terra.arange(3.0) + i).expand(4, 3), terra.arange(3.0) * i), None


if __name__ == "__main__":
    main()
