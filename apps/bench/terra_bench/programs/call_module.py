"""A call of a captured module of 50 sub-modules, each a scale of 16 elements."""

REPEATS = 100


def build(torch):
    class Scale(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(16), requires_grad=False)

        def forward(self, x):
            return x * self.weight

    net = torch.nn.Sequential(*[Scale() for _ in range(50)])
    x = torch.randn(16)
    keep_out = iter(int, 1)  # an iterator from outside keeps the loop itself from being captured

    def step():
        for _ in range(REPEATS):
            next(keep_out)
            net(x)

    def empty():
        for _ in range(REPEATS):
            next(keep_out)

    step.empty, step.graph = empty, (net, x)
    return step
