# run: TERRA_EXACT=1
"""Training captured has no more tensors alive at once than training in the interpreter: not while a step is recorded,
which holds what the program has met, and not in the graphs. Each program trains in a process of its own with capture
off, by its modules (whose gradients the tape runs), and as a whole step.

    terra-run tests/python/capture/peak_memory.py [PROGRAM WHAT]"""
import os
import subprocess
import sys

import terra
import terra.nn as nn
import terra.nn.functional as F

SLACK = 5 << 20  # a recording looks for what it may let go of whenever it has come to 4 MB more
STEPS = 14


class Residual(nn.Module):
    """x = relu(x + f(x)): what is saved is x, and f(x) isn't wanted any more."""

    def __init__(self, width):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, x):
        return F.relu(x + self.f(x))


class Attention(nn.Module):
    """Three views of one tensor, and products that are copies of them."""

    def __init__(self, width, heads=4):
        super().__init__()
        self.norm, self.heads = nn.LayerNorm(width), heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        w = terra.softmax(q @ k.transpose(-1, -2) * d ** -0.5, -1)
        return x + self.out((w @ v).transpose(1, 2).reshape(b, t, d))


def residual():
    net = nn.Sequential(*[Residual(256) for _ in range(6)])
    return net, terra.randn(4096, 256), lambda y: (y * y).mean(), terra.optim.SGD(net.parameters(), 0.01, momentum=0.9)


def attention():
    net = nn.Sequential(*[Attention(128) for _ in range(4)], nn.Linear(128, 4096))
    targets = terra.randint(4096, (8 * 128,))
    loss_of = lambda y: F.cross_entropy(y.flatten(0, 1), targets)
    return net, terra.randn(8, 128, 128), loss_of, terra.optim.AdamW(net.parameters())


def wide():
    """The gradients are as large as everything else."""
    net = nn.Sequential(nn.Linear(64, 2048), nn.Tanh(), nn.Linear(2048, 1024), nn.Tanh(), nn.Linear(1024, 8))
    return net, terra.randn(16, 64), lambda y: y.pow(2).mean(), terra.optim.Adam(net.parameters())


def train(program, what):
    terra.manual_seed(0)
    net, x, loss_of, optimizer = program()

    def step():
        optimizer.zero_grad()
        loss = loss_of(net(x))
        loss.backward()
        optimizer.step()

    for _ in range(STEPS):
        if what != "modules":
            step()
            continue
        optimizer.zero_grad()
        loss = loss_of(net(x))
        loss.backward()
        optimizer.step()
        del loss
    stats = terra.capture.stats()
    print(stats["peak_tensor_bytes"], stats["replays"])


def measured(program, what):
    environment = dict(os.environ, TERRA_CAPTURE="off" if what == "off" else "auto", TERRA_SELF_CHECK="off")
    done = subprocess.run([sys.executable, __file__, program, what], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    peak, replays = map(int, done.stdout.split())
    return peak, replays


PROGRAMS = {f.__name__: f for f in (residual, attention, wide)}
if sys.argv[1:]:
    train(PROGRAMS[sys.argv[1]], sys.argv[2])
    sys.exit()
for name in PROGRAMS:
    plain, _ = measured(name, "off")
    for what in ("step", "modules"):
        peak, replays = measured(name, what)
        assert replays > 0, f"{name} {what}: nothing was served"
        assert peak <= plain + SLACK, f"{name} {what}: {peak:,} bytes at once captured, {plain:,} plainly"
print("peak_memory: ok")
