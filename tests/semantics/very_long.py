# run: TERRA_EXACT=1
"""More values in one place than an instruction can name: captured or left alone, but whole."""
import io
import os

import terra
from _harness import main, program

X = terra.arange(4.0)


def opaque(value):
    return len(os.listdir("/dev/fd")) * 0 + 3


def lengths(register):
    """The same program over as many values as fit into an instruction, and over more."""
    for count, captures in ((64, 1), (1000, 1), (1016, 0), (1020, 0), (1100, 0), (4200, 0)):
        def make(count=count):
            return register(count)
        make.__name__ = f"{register.__name__}_{count}"
        served = captures if register.__name__ != "zipped_at_a_cut" else 0  # whether there is a cut is not said here
        program(calls=6, captures=served, cut=True)(make)
    return register


@lengths
def printed(count):
    stream = io.StringIO()
    values = list(range(count))

    def f(x):
        y = x * 2
        print(*values, file=stream)
        return y + 1

    def args(i):
        values[count // 2] = -i
        return (X + i,)
    return f, args, (stream, values)


@lengths
def zipped_at_a_cut(count):
    rows = [[i, i + 1] for i in range(count)]

    def f(x):
        columns = zip(*rows)
        y = x * 2
        length = opaque(y)
        return y + length, list(columns)

    def args(i):
        rows[-1][0] = i // 3
        return (X + i,)
    return f, args, rows


@lengths
def listed(count):
    values = [float(i) for i in range(count)]

    def f(x):
        return x * 2, [*values, x], (*values, 1)

    def args(i):
        values[-1] = i / 2
        return (X + i,)
    return f, args, values


@lengths
def told_apart(count):
    boxes = [[i] for i in range(count)]

    def f(x):
        for box in boxes:
            box[0] += 1
        return x * boxes[-1][0]

    def args(i):
        return (X + i,)
    return f, args, boxes


if __name__ == "__main__":
    main()
