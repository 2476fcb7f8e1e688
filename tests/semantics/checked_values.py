# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=op=*@3
"""Ops that raise for some values, whose results nobody needs: asked in the hope that they raise, or not."""
import terra
from terra.nn import functional as F
from _harness import main, program

AT = terra.tensor([0, 2])
OUTSIDE = terra.tensor([0, 3])
EYE = terra.eye(2)


def asked(op, good, bad, after=lambda x: x * 2):
    """Values that are right for some calls, and for others not."""
    seen = []
    def f(x, value):
        seen.append("before")
        op(value)
        seen.append("behind")
        return after(x)
    return f, lambda i: (terra.arange(3.0) + i, bad if i in (5, 6, 9) else good), seen


@program(calls=12, captures=3)
def index_out_of_range():
    return asked(lambda at: terra.ones(3)[at], AT, OUTSIDE)


@program(calls=12, captures=4)
def embedding_out_of_range():
    return asked(lambda at: F.embedding(at, terra.ones(3, 2)), AT, OUTSIDE)


@program(calls=12, captures=4)
def gather_and_scatter():
    return asked(lambda at: (terra.ones(3).gather(0, at), terra.ones(3).scatter(0, at, 2.0)), AT, OUTSIDE)


@program(calls=12, captures=4)
def classes_out_of_range():
    return asked(lambda at: F.cross_entropy(terra.ones(2, 3), at), AT, OUTSIDE)


@program(calls=12, captures=4)
def division_of_integers():
    return asked(lambda by: (7 // by, 7 % by), terra.tensor([1, 2]), terra.tensor([1, 0]))


@program(calls=12, captures=4)
def matrices_with_no_inverse():
    return asked(lambda a: (terra.linalg.inv(a), terra.linalg.solve(a, a)), EYE, EYE * 0)


@program(calls=12, captures=4)
def probabilities_out_of_range():
    return asked(lambda p: F.binary_cross_entropy(p, EYE), EYE * 0.5, EYE * 1.5)


@program(calls=12, captures=4)
def asked_whether_it_raises():
    def f(x, a):
        try:
            terra.linalg.cholesky(a)
        except terra.linalg.LinAlgError:
            return x - 1, "not"
        return x + 1, "positive definite"
    return f, lambda i: (terra.arange(3.0) + i, EYE * (-1 if i in (5, 6, 9) else 1 + i)), None


@program(calls=12, captures=4)
def with_gradients_afterwards():
    """The half for the gradients has nothing to check."""
    w = terra.ones(3, requires_grad=True)
    def f(x, at):
        w.detach()[at]
        return (w[AT] * x[at]).sum()
    def g(x, at):
        w.grad = None
        f(x, at).backward()
        return w.grad.clone()
    g.target = f
    return g, lambda i: (terra.arange(3.0) + i, OUTSIDE if i in (5, 6, 9) else AT), w


@program(calls=12, captures=3)
def needed_as_well():
    """Losses check what they are given, in graphs too."""
    def f(p, x):
        loss = F.binary_cross_entropy(p, x)
        return loss, loss * 2
    return f, lambda i: (EYE * (1.5 if i in (5, 6, 9) else 0.5), EYE), None


if __name__ == "__main__":
    main()
