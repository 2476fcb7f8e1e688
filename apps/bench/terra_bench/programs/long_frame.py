"""A frame of some 20,000 executed instructions round a few tensor operations."""


def build(torch):
    x = torch.ones(4)

    def work(x, numbers):
        total = 0
        for n in numbers:
            total = total + n * 3 - (n >> 1)
            if total > 1000:
                total = total - 999
        return x * 2 + x

    numbers = list(range(1100))

    def step():
        return work(x, numbers)

    return step
