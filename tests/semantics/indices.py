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


@program(calls=24, captures=8)
def list_of_numbers():
    return lambda x, rows, k: x[rows].sum(1) + x[k, rows].sum(), lambda i: (x(), [i % 2, 2 - i % 3], i % 3), None


@program(calls=24, captures=18, recordings=2)
def list_made_inside():
    return lambda x, k: (x[[0, 2]] * 2, x[:, [k, 3]].sum(1), x[[[0], [1]], [k, -1]]), lambda i: (x(), i % 4), None


@program(calls=24, captures=8)
def list_that_changes_in_place():
    class Shuffle:
        order = [2, 0, 1]
        def __call__(self, x):
            return x[self.order].cumsum(0)
    shuffle = Shuffle()
    def arguments(i):
        if i % 6 == 5:
            shuffle.order.reverse()
        if i == 17:
            shuffle.order.append(1)
        return x(),
    return shuffle.__call__, arguments, None


@program(calls=24, captures=15)
def position_out_of_range():
    def f(x, k):
        return x[[0, k]] * 2
    return f, lambda i: (x(), i % 4), None


@program(calls=24, captures=None, reason=19)
def list_of_tensors():
    return lambda x, k: x[[k, 1]] * 2, lambda i: (x(), terra.tensor(i % 3)), None


@program(calls=24, captures=None, reason=19)
def list_of_truths():
    return lambda x, rows: x[rows] * 2, lambda i: (x(), [True, i % 2 > 0, i % 3 > 0]), None


@program(calls=24, captures=18, recordings=3)
def numbers_stored_at_a_list():
    def f(x, value):
        y = x + 1
        y[[0, 2]] = value
        y[1, [0, 1]] = 7
        return y
    return f, lambda i: (x(), 0.25 * i), None


@program(calls=24, captures=18, recordings=3)
def numbers_stored_at_masks():
    def f(x, value):
        y = x * 2
        y[x > value] = 0.0
        y[:, x[0, :, 0] > value] = value
        y[..., x[0, 0] > 2] = True
        y.sum().backward()
        return y
    return f, lambda i: (x().requires_grad_(), 2.5 * i), None


@program(calls=24, captures=15)
def number_of_another_kind():
    def f(x, value):
        y = x.long()
        y[x > 20] = value
        return y
    return f, lambda i: (x(), (i, 2.75 + i, True, -1.5)[i // 6]), None


if __name__ == "__main__":
    main()
