# run: --torch
# run: --torch --capture=stress
# run: --torch --capture=off
"""Functions whose values decide what the program does next run one by one; the gradients of their runs are computed
many at a time, and hooks, errors and what a pass is asked for are as if they weren't."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

items = []


class Cell(nn.Module):
    def __init__(self, phase):
        super().__init__()
        self.gates, self.score = nn.Linear(6, 16), nn.Linear(8, 1)
        for i, p in enumerate(self.parameters()):
            p.data = wave(*p.shape).float() * 0.3 + phase + i * 0.01
        self.scale = 1.0

    def forward(self, x, h):
        i, g = self.gates(x).chunk(2, -1)
        h = torch.tanh(g + h) * torch.sigmoid(i) * self.scale
        return h, self.score(h)


cell, other = Cell(0.0), Cell(0.1)
parameters = list(cell.parameters())
inputs = [wave(1, 6).float() * (0.2 + 0.01 * n) + 0.02 * (n % 7) for n in range(60)]
start = torch.zeros(1, 8)


def gradients(backward, of=parameters):
    for p in of:
        p.grad = None
    backward()
    return [None if p.grad is None else [p.grad.norm(), p.grad.flatten()[0]] for p in of]


def walk(cells=(cell,), times=120, xs=inputs, first=start):
    """A chain that begins anew where a score says so: many short ones, of different lengths."""
    h, scores = first, []
    for n in range(times):
        h, score = cells[n % len(cells)](xs[n % len(xs)], h)
        scores.append(score)
        if score.item() > 0.55 or n % 9 == 8:
            h = first
    return torch.cat(scores)


for _ in range(3):  # what is worth it shows in the second pass
    items.append(("chains", gradients(lambda: walk().sum().backward())))
items.append(("weighted", gradients(lambda: (walk() * wave(120, 1).float()).sum().backward())))
items.append(("some of them", gradients(lambda: walk()[::3].sum().backward())))
items.append(("two cells", gradients(lambda: walk((cell, other)).sum().backward(), [*parameters, *other.parameters()])))
items.append(("grad", [g.norm() for g in torch.autograd.grad(walk().sum(), parameters)]))

# ---- rows of several sizes, leaves of their own and shared ones
wide = [wave(n % 3 + 1, 6).float() * 0.3 for n in range(60)]
items.append(("sizes", gradients(lambda: torch.cat([cell(x, torch.zeros(len(x), 8))[1] for x in wide * 3]).sum().backward())))
leaves = [x.clone().requires_grad_() for x in inputs]
for _ in range(2):
    items.append(("leaves", gradients(lambda: walk(xs=leaves).sum().backward(), [*parameters, *leaves[::20]])))
leaves[0].grad.zero_()
items.append(("gradients lie apart", [x.grad.norm() for x in leaves[::20]]))
first = start.clone().requires_grad_()
items.append(("one leaf for many", gradients(lambda: walk(first=first).sum().backward(), [*parameters, first])))
source = wave(1, 8).float().requires_grad_()
items.append(("one value for many", gradients(lambda: walk(first=source * 2).sum().backward(), [*parameters, source])))


def scaled():
    total = 0
    for n in range(120):
        cell.scale = 0.5 + n / 120
        total = total + cell(inputs[n % 60], start)[1]
    cell.scale = 1.0
    return total.sum()


items.append(("numbers", gradients(lambda: scaled().backward())))

# ---- twice, and again of the gradient
loss = walk().sum()
items.append(("kept", gradients(lambda: loss.backward(retain_graph=True))))
items.append(("kept, again", gradients(lambda: loss.backward())))
try:
    loss.backward()
except RuntimeError as error:
    items.append(("spent", "Trying to backward through the graph a second time" in str(error)))
loss = walk(times=30).sum()
first_order = torch.autograd.grad(loss, parameters[0], create_graph=True)[0]
items.append(("second order", gradients(lambda: first_order.square().sum().backward())))

# ---- what looks at single gradients
seen = []


def watched(mark):
    h, scores = start, []
    for n in range(120):
        h, score = cell(inputs[n % 60], h)
        scores.append(score)
        if score.item() > 0.55 or n % 9 == 8:
            h = start
        elif n % 30 == 10:
            marked = mark(h, n)
            h = h if marked is None else marked
    return torch.cat(scores).sum()


def hooked(h, n):
    h.register_hook(lambda g: seen.append([n, g.norm()]) or g * 0.5)


items.append(("hooks", gradients(lambda: watched(hooked).backward()) + [list(seen)]))
kept = []
items.append(("retained", gradients(lambda: watched(lambda h, n: kept.append(h) or h.retain_grad()).backward())))
items.append(("retained ones", [h.grad.norm() for h in kept]))


class Noted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.n = n
        return x * 1.5

    @staticmethod
    def backward(ctx, g):
        seen.append([ctx.n, g.norm(), None if cell.score.weight.grad is None else cell.score.weight.grad.norm()])
        return g * 1.5, None


seen.clear()
items.append(("functions", gradients(lambda: watched(Noted.apply).backward()) + [list(seen)]))
seen.clear()
hook = cell.gates.weight.register_hook(lambda g: seen.append(g.norm()) or g * 2)
items.append(("hook of a weight", gradients(lambda: walk().sum().backward()) + [list(seen)]))
hook.remove()

# ---- what has changed in between
score = walk()
with torch.no_grad():
    cell.score.weight.mul_(1.0)
try:
    score.sum().backward()
    items.append(("written weight", "no error"))
except RuntimeError as error:
    items.append(("written weight", "modified by an inplace operation" in str(error)))
score = walk()
cell.gates.weight.requires_grad_(False)
items.append(("frozen later", gradients(lambda: score.sum().backward())))
items.append(("frozen", gradients(lambda: walk().sum().backward())))
cell.gates.weight.requires_grad_(True)
items.append(("infinite", [g[0].isfinite() for g in gradients(lambda: (walk() * torch.tensor([float("inf")] + [1.0] * 119)[:, None]).sum().backward())]))


# ---- an actor and a critic: what they say of each state is needed at once
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.actor, self.critic = nn.Linear(4, 32), nn.Linear(32, 3), nn.Linear(32, 1)
        for i, p in enumerate(self.parameters()):
            p.data = wave(*p.shape).float() * 0.4 + i * 0.02

    def forward(self, state):
        h = torch.relu(self.body(state))
        return torch.log_softmax(self.actor(h), -1), self.critic(h)


policy = Policy()
optimizer = torch.optim.SGD(policy.parameters(), 0.05)
for episode in range(4):
    state, chosen, values, rewards = torch.tensor([0.1, -0.2, 0.3, 0.05]), [], [], []
    for t in range(80):
        logs, value = policy(state)
        action = int(logs.argmax())
        chosen.append(logs[action])
        values.append(value)
        rewards.append(1.0 - 0.1 * action)
        state = torch.tensor([(float(s) * 0.9 + 0.1 * (action - 1) + 0.01 * t) % 1.0 for s in state])
    returns, running = [], 0.0
    for reward in reversed(rewards):
        running = reward + 0.9 * running
        returns.insert(0, running)
    returns, values = torch.tensor(returns), torch.cat(values)
    loss = -(torch.stack(chosen) * (returns - values.detach())).mean() + (returns - values).square().mean() * 0.1
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    items.append((f"episode {episode}", [loss, policy.body.weight.norm(), policy.actor.bias]))

check(items, __file__)
