# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Tensors that are iterated over and unpacked, and containers whose __iter__ is written in Python."""
import terra
from _harness import main, program
from terra import nn


def t(n, rows=3):
    return terra.arange(float(rows * 2)).view(rows, 2) * 0.5 + n


@program(calls=12, captures=8)
def rows_of_a_tensor():
    def f(x, k):
        h = terra.zeros(2)
        for row in x:
            h = h * k + row
        return h
    return f, lambda i: (t(i), 0.5 + i % 2), None


@program(calls=14, captures=6)
def rows_of_tensors_of_changing_lengths():
    def f(x):
        out = []
        for i, row in enumerate(x):
            out.append(row * i)
        return out
    return f, lambda i: (t(i, 2 + i % 2),), None


@program(calls=12, captures=8)
def unpacked_tensor():
    def f(x):
        a, b, c = x
        first, *rest = x * 2
        return a * b - c, first, rest
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8)
def tensors_side_by_side():
    def f(x, y, names):
        return [(a * n, b) for a, b, n in zip(x, y, names)], list(x), tuple(y)
    return f, lambda i: (t(i), t(2 * i), [1, i, 3]), None


@program(calls=12, captures=8)
def gradients_through_rows():
    w = t(1).requires_grad_()
    def f(x):
        w.grad = None
        total = 0
        for a, b in zip(w, x):
            total = total + (a * b).sum() ** 2
        total.backward()
        return total, w.grad
    return f, lambda i: (t(i),), w


@program(calls=12, captures=7)
def layers_of_a_sequential():
    terra.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2))
    def f(x):
        for i, layer in enumerate(net):
            x = layer(x) + i
        for layer, k in zip(net, (1, 2)):
            x = layer(x) * k
        return x, len(list(net))
    def args(i):
        if i == 8:
            net[1] = nn.Sigmoid()
        return (t(i),)
    return f, args, net


class Ring:
    def __init__(self, parts):
        self.parts = parts
        self.walks = 0

    def __iter__(self):
        self.walks += 1
        return iter(self.parts)

    def __len__(self):
        return len(self.parts)


@program(calls=12, captures=7)
def iterable_of_the_programs_own():
    ring = Ring([1.0, 2.0])
    def f(x):
        for i, k in enumerate(ring):
            x = x * k + i
        return x, list(ring), tuple(ring)
    def args(i):
        if i == 7:
            ring.parts = [3.0, 1.0, 2.0]
        return (t(i),)
    return f, args, ring


if __name__ == "__main__":
    main()
