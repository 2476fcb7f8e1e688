# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Indices that come from outside as a whole: tuples, slices and lists, whose parts differ between calls."""
import operator

import terra
from _harness import main, program

SLICES = [slice(0, 2), slice(1, 3), slice(1, None), slice(0, 3, 2)]


def x():
    return terra.arange(60.0).view(3, 4, 5)


def part(i):
    return SLICES[i // 2 % 4]


@program(calls=24, captures=8)
def tuple_of_numbers():
    return lambda x, at: x[at] * 2 + 1, lambda i: (x(), (i % 3, i % 4)), None


@program(calls=24, captures=6)
def tuple_with_a_slice():
    return lambda x, at: x[at].sum() + 1, lambda i: (x(), (i % 2, part(i))), None


@program(calls=24, captures=8)
def written_through_a_tuple():
    def f(x, at, value):
        y = x + 1
        y[at] = value
        return y
    return f, lambda i: (x(), (..., i % 5), 0.5 * i), None


@program(calls=24, captures=6)
def number_that_equals_a_bound():
    # The number is the same object as the start of the slice in some calls, and has nothing to do with it.
    return lambda x, k, s: x[k, s].sin() + k, lambda i: (x(), i % 3, part(i)), None


@program(calls=24, captures=6)
def number_that_equals_a_part():
    return lambda x, k, at: x[k] + x[at].sum() * k, lambda i: (x(), i % 3, (i // 3 % 3, i % 2)), None


@program(calls=24, captures=8)
def put_together_with_another():
    return lambda x, k, at: x[(k, *at)] * 2 + x[at + (k,)].cos(), lambda i: (x(), i % 3, (i % 2, i % 3)), None


@program(calls=24, captures=None, reason=4)
def given_to_c_code():
    return (lambda x, at: operator.getitem(x, at) * 3 + x.__getitem__(at).exp()), lambda i: (x() / 60, (i % 3, ..., i % 2)), None


@program(calls=24, captures=6)
def kept_in_objects():
    class Crop:
        def __init__(self):
            self.at = (0, slice(None))
            self.log = []

        def __call__(self, x, where):
            self.log.append(x[self.at].sum().item())
            y = x * 2
            y[where["at"]] += 1
            return y[self.at]
    crop = Crop()
    def arguments(i):
        crop.at = (i % 2, part(i))
        return x(), {"at": (i // 4 % 3, 1)}
    return crop.__call__, arguments, crop


@program(calls=24, captures=6)
def scratch_space_of_a_solver():
    # As libraries of solvers keep their stages: each written in its own column of memory made before.
    def store(k, value, at):
        k.data[at] = value
        return k
    def f(y, n):
        k = terra.zeros(2, n + 1)
        for i in range(n):
            k = store(k, y + k[..., :i + 1].sum(-1) * 0.5, (..., i + 1))
        return k
    return f, lambda i: (terra.ones(2) * i, 2 + i % 3), None


@program(calls=24, captures=None, reason=10)
def list_of_numbers():
    return lambda x, rows, k: x[rows].sum(1) + x[k, rows].sum(), lambda i: (x(), [i % 2, 2 - i % 3], i % 3), None


if __name__ == "__main__":
    main()
