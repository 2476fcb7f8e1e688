"""A call of a captured function of eight tensors, in a Python loop that is not captured itself. A hundred per step."""

REPEATS = 100


def make(torch):
    def add8(a, b, c, d, e, f, g, h):
        return a + b + c + d + e + f + g + h

    return add8, [torch.randn(16) for _ in range(8)]


def build(torch):
    add8, xs = make(torch)
    a, b, c, d, e, f, g, h = xs
    keep_out = iter(int, 1)  # an iterator from outside keeps the loop itself from being captured

    def step():
        for _ in range(REPEATS):
            next(keep_out)
            add8(a, b, c, d, e, f, g, h)

    def empty():
        for _ in range(REPEATS):
            next(keep_out)

    step.empty, step.graph = empty, (add8, *xs)
    return step
