"""Random numbers are drawn when a call is put off: dropout, below and behind a recursion, doesn't keep trees apart, and the
numbers that come after it are those of plain execution."""
import terra
import _terra_C as C
from terra import nn

C.capture_thrift(False)  # times of calls decide nothing


class Tree(nn.Module):
    def __init__(self, inside):
        super().__init__()
        self.words = nn.Embedding(10, 4, sparse=True)
        self.join = nn.Linear(8, 4)
        self.classify = nn.Linear(4, 3)
        self.drop, self.inside = nn.Dropout(0.3), inside

    def encode(self, tree, states):
        if isinstance(tree, int):
            h = terra.tanh(self.words(terra.tensor([tree])))
        else:
            left, right = tree
            h = terra.tanh(self.join(terra.cat([self.encode(left, states), self.encode(right, states)], 1)))
        if self.inside:
            h = self.drop(h)
        states.append(h)
        return h

    def forward(self, tree):
        states = []
        self.encode(tree, states)
        return self.classify(self.drop(terra.cat(states))).square().sum()


def put_off():
    stats = terra.capture.stats()
    return stats["runs"]["recursive"], stats["batches"]


def losses(model, steps):
    terra.manual_seed(3)
    for step in range(steps):
        loss = sum(model(tree) for tree in batch)
        model.zero_grad()
        loss.backward()
        yield loss.item(), model.join.weight.grad.clone(), terra.rand(1).item()


batch = [((1, 2), (3, (4, word))) for word in range(10)]
for inside in (False, True):
    terra.manual_seed(1)
    model = Tree(inside)
    for step, got in enumerate(losses(model, 14)):
        calls, batches = put_off()
        if step == 12:
            before = calls, batches
    calls, batches = calls - before[0], batches - before[1]
    assert calls >= 90, (inside, calls)  # 50 leaves and 40 joins
    assert calls >= 4 * batches, (inside, calls, batches)
    with terra.capture.mode("off"):
        *_, plain = losses(model, 14)
    assert abs(got[0] - plain[0]) < 1e-4 * abs(plain[0]), (inside, got[0], plain[0])
    assert terra.allclose(got[1], plain[1], rtol=1e-3, atol=1e-5), inside
    assert got[2] == plain[2], inside
