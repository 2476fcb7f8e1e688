"""Methods that call themselves on each child, in a comprehension or in a loop: what each call computes comes from graphs."""
import random

import terra
from terra import nn
import _terra_C as C

C.capture_thrift(False)  # times of calls decide nothing
terra.manual_seed(0)


class Node:
    def __init__(self, word, children=()):
        self.word, self.children, self.is_leaf = word, children, not children


def tree(draw, depth):
    if depth == 0 or draw.random() < 0.2:
        return Node(draw.randrange(20))
    return Node(0, tuple(tree(draw, depth - 1) for _ in range(2)))


class ChildSum(nn.Module):
    """`self` and `states` are cells: the comprehension is a function that has them in its closure."""

    def __init__(self):
        super().__init__()
        self.words, self.gates, self.forget = nn.Embedding(20, 4, sparse=True), nn.Linear(4, 12), nn.Linear(4, 4)

    def encode(self, node, states):
        if node.is_leaf:
            i, o, u = self.gates(self.words(terra.tensor([node.word]))).chunk(3, 1)
            c = terra.sigmoid(i) * terra.tanh(u)
        else:
            below = [self.encode(child, states) for child in node.children]
            i, o, u = self.gates(sum(h for h, _ in below)).chunk(3, 1)
            c = terra.sigmoid(i) * terra.tanh(u)
            for h, child_c in below:
                c = c + terra.sigmoid(self.forget(h)) * child_c
        h = terra.sigmoid(o) * terra.tanh(c)
        states.append(h)
        return h, c

    def forward(self, node):
        states = []
        self.encode(node, states)
        return terra.cat(states).sum()


class TopDown(nn.Module):
    """The loop over the children goes on behind each call of itself, and ends there once."""

    def __init__(self):
        super().__init__()
        self.gates, self.wish = nn.Linear(4, 8), nn.Linear(4, 1)
        nn.init.constant_(self.wish.bias, 3.0)

    def grow(self, node, h, states):
        wish = self.wish(h)
        states.append(h * wish)
        if node.is_leaf or wish.item() < -100:
            return
        for child, part in zip(node.children, self.gates(h).chunk(2, 1)):
            self.grow(child, terra.tanh(part) + h, states)

    def forward(self, node):
        states = []
        self.grow(node, terra.ones(1, 4), states)
        return terra.cat(states).sum()


def run(model, steps):
    """Losses of training steps over drawn trees."""
    draw, losses = random.Random(1), []
    optimizer = terra.optim.SGD(model.parameters(), lr=0.001)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = sum(model(tree(draw, 4)) for _ in range(4))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def eager_share(before, now):
    """Of the ops between two reports, how many Python called one by one."""
    eager, graph = (now["ops"][kind] - before["ops"][kind] for kind in ("eager", "graph"))
    return eager / (eager + graph)


for kind, most in ((ChildSum, 0.05), (TopDown, 0.1)):
    model = kind()
    start = {name: value.clone() for name, value in model.state_dict().items()}
    mode = C.capture_mode("off")
    want = run(model, 40)
    C.capture_mode(mode)
    model.load_state_dict(start)
    run(model, 30)
    model.load_state_dict(start)
    before = terra.capture.stats()
    got = run(model, 40)
    share = eager_share(before, terra.capture.stats())
    assert all(abs(a - b) <= 1e-3 * abs(a) + 1e-4 for a, b in zip(want, got)), (kind, want, got)
    assert share < most, (kind, share)
