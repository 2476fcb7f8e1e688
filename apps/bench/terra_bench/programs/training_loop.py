"""One iteration of a training loop, with what programs do between their steps. Its losses are kept, looked at, or both."""

import io
import logging
import random

from .batches import shuffled


def build(torch, net, between):
    model, batches = NETS[net](torch)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    after = BETWEEN[between]()
    loss_of = torch.nn.functional.cross_entropy
    next_batch = shuffled(batches)

    def step():
        x, y = next_batch()
        opt.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        opt.step()
        after(loss)

    return step


# ---- what happens behind a step ----


def nothing():
    return lambda loss: None


def keeps():
    """The losses of the last hundred steps, read all at once."""
    losses = []

    def after(loss):
        losses.append(loss.detach())
        if len(losses) == 100:
            sum(kept.item() for kept in losses)
            losses.clear()

    return after


def reads():
    return lambda loss: loss.item()


def busy():
    """A log line of the loss, a third-party function on its value, a list, numpy's random numbers."""
    import numpy

    log = logging.Logger("training")
    log.addHandler(logging.StreamHandler(io.StringIO()))
    history = []

    def after(loss):
        value = loss.item()
        history.append((value, numpy.random.rand(4).sum(), random.random()))
        log.warning("step %d: loss %.4f, smoothed %.4f", len(history), value, numpy.mean([v for v, *_ in history[-20:]]))

    return after


BETWEEN = {"nothing": nothing, "keeps": keeps, "reads": reads, "busy": busy}

# ---- what is trained ----


def mlp(torch):
    nn = torch.nn
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    return net, [(torch.randn(64, 64), torch.randint(10, (64,))) for _ in range(8)]


def small(torch):
    nn = torch.nn
    net = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
    return net, [(torch.randn(64, 4), torch.randint(2, (64,))) for _ in range(8)]


def lenet(torch):
    nn = torch.nn
    net = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip
    return net, [(torch.randn(64, 1, 28, 28), torch.randint(10, (64,))) for _ in range(8)]


def gpt(torch):
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.before_attention, self.before_layers = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.layers = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            batch, length, width = x.shape
            parts = self.attention(self.before_attention(x)).view(batch, length, 3, self.heads, width // self.heads)
            query, key, value = parts.permute(2, 0, 3, 1, 4)
            seen = F.scaled_dot_product_attention(query, key, value, is_causal=True)
            x = x + self.projection(seen.transpose(1, 2).reshape(batch, length, width))
            return x + self.layers(self.before_layers(x))

    class Gpt(nn.Module):
        def __init__(self, words, width, depth):
            super().__init__()
            self.tokens, self.places = nn.Embedding(words, width), nn.Embedding(64, width)
            self.blocks = nn.ModuleList(Block(width, 4) for _ in range(depth))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

        def forward(self, ids):
            x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x)).flatten(0, 1)

    def batch():
        ids = torch.randint(100, (8, 33))
        return ids[:, :-1].contiguous(), ids[:, 1:].flatten()

    return Gpt(100, 64, 3), [batch() for _ in range(8)]


NETS = {"small": small, "mlp": mlp, "lenet": lenet, "gpt": gpt}
