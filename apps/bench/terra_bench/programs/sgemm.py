"""A product of two square matrices, the yardstick for what is made of products."""

SIZE = 1024
FLOPS = 2 * SIZE**3


def build(torch):
    a, b = torch.randn(SIZE, SIZE), torch.randn(SIZE, SIZE)
    return lambda: a @ b
