"""The smallest op from Python. A call is a hundred additions, so that the loop around it weighs little."""

REPEATS = 100


def build(torch, requires_grad=False):
    a = torch.randn(64, requires_grad=requires_grad)
    b = torch.randn(64, requires_grad=requires_grad)
    hundred = [None] * REPEATS

    def step():
        for _ in hundred:
            a + b

    return step
