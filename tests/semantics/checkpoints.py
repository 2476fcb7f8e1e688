# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""utils.checkpoint: parts of the forward pass that are computed twice, with their effects, and random numbers once."""
import terra
from _harness import main, program
from terra import nn
from terra.utils.checkpoint import checkpoint, checkpoint_sequential


def t(n):
    return terra.sin(terra.arange(4.0).view(2, 2) + n)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.calls = 0

    def forward(self, x, scale=1.0):
        self.calls += 1
        return terra.tanh(self.linear(x)) * scale


@program(calls=14, captures=6)
def blocks_computed_twice():
    terra.manual_seed(0)
    blocks = nn.ModuleList([Block(), Block()])
    def f(x, scale):
        blocks.zero_grad()
        h = x
        for block in blocks:
            h = checkpoint(block, h, scale=scale, use_reentrant=False)
        loss = h.pow(2).sum()
        loss.backward()
        return loss, [p.grad.clone() for p in blocks.parameters()], [b.calls for b in blocks]
    return f, lambda i: (t(i), 1.0 + i % 2), None


@program(calls=12, captures=None)
def dropout_draws_once():
    terra.manual_seed(0)
    block, drop = Block(), nn.Dropout(0.5)
    def f(x):
        x.grad = None
        out = checkpoint(lambda v: drop(block(v)), x, use_reentrant=False)
        out.sum().backward()
        return out, x.grad, terra.rand(2)
    return f, lambda i: (t(i).requires_grad_(),), block


@program(calls=12, captures=6)
def two_results_and_a_second_gradient():
    def g(x, y):
        return x * y, terra.sin(x)
    def f(x, y):
        a, b = checkpoint(g, x, y, use_reentrant=False, preserve_rng_state=False)
        gx, = terra.autograd.grad((a * b).sum(), x, create_graph=True)
        gg, = terra.autograd.grad(gx.sum(), y)
        return a.detach(), gx.detach(), gg.detach()
    return f, lambda i: (t(i).requires_grad_(), t(i + 1).requires_grad_()), None


@program(calls=12, captures=8)
def sequence_in_segments():
    terra.manual_seed(1)
    net = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2), nn.Sigmoid())
    def f(x):
        net.zero_grad()
        checkpoint_sequential(net, 2, x, use_reentrant=False).sum().backward()
        return x.grad, net[0].weight.grad.clone()
    return f, lambda i: (t(i).requires_grad_(),), net


if __name__ == "__main__":
    main()
