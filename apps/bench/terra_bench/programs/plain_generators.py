"""Pure Python: generators, comprehensions, iterators."""


def numbers(n):
    for i in range(n):
        yield i


def pairs(n):
    for i in numbers(n):
        yield from (i, -i)


def build(_):
    def step():
        total = sum(x * x for x in pairs(3000))
        return total + len([x for x in numbers(3000) if x & 1]) + len({x: x for x in numbers(1000)})

    return step
