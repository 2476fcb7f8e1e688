# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Lists and tuples read at an index that changes from call to call."""
import terra
from _harness import main, program


@program(calls=16, captures=10)
def batches_in_turn():
    batches = [(terra.arange(3.0) + i, i) for i in range(5)]
    turn = [0]

    def f():
        turn[0] += 1
        x, label = batches[turn[0] % 5]
        return (x * 2).sum()

    return f, lambda i: (), (turn, batches)


@program(calls=14, captures=8)
def negative_and_out_of_range():
    xs = [terra.ones(2) * i for i in range(4)]

    def f(i):
        return xs[i] + 1

    return f, lambda i: ((i * 3) % 11 - 6,), xs


@program(calls=14, captures=6)
def numbers_of_a_table():
    rates = (0.5, 0.25, 0.125)

    def f(x, epoch):
        return x * rates[epoch % 3]

    return f, lambda i: (terra.ones(2), i), None


@program(calls=14, captures=4)
def written_object_is_sometimes_another_one():
    boxes = [[0], [10], [20]]

    def f(x, i):
        box = boxes[i % 3]
        box[0] = box[0] + 1
        return x + boxes[0][0]

    return f, lambda i: (terra.ones(2), i), boxes


@program(calls=14, captures=0)
def list_changed_before_it_is_read():
    xs = [1, 2, 3]

    def f(x, i):
        xs[1] = xs[1] + 1
        return x * xs[i % 3]

    return f, lambda i: (terra.ones(2), i), xs


@program(calls=14, captures=4)
def two_indices_that_meet():
    xs = [terra.zeros(2) for _ in range(3)]

    def f(i, j):
        xs[i].add_(1)
        xs[j].mul_(2)
        return xs[i] + xs[j]

    return f, lambda i: (i % 3, i // 2 % 3), xs


if __name__ == "__main__":
    main()
