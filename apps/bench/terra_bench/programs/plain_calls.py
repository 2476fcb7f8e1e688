"""Pure Python: functions, methods, keyword arguments, recursion."""


def add(a, b=1):
    return a + b


class Counter:
    def __init__(self):
        self.n = 0

    def step(self, by):
        self.n = add(self.n, b=by) % 1000003
        return self.n


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def build(_):
    counter = Counter()

    def step():
        for i in range(2000):
            counter.step(i)
        fibonacci(14)

    return step
