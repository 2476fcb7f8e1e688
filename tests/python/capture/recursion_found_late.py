"""What was recorded of a function before it was seen to call itself is recorded anew: then its calls are put off."""
import terra
import _terra_C as C
from terra import nn

C.capture_thrift(False)  # times of calls decide nothing


class Tree(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 4, sparse=True)
        self.join = nn.Linear(8, 4)

    def encode(self, tree):
        if isinstance(tree, int):
            return terra.tanh(self.words(terra.tensor([tree])))
        left, right = tree
        return terra.tanh(self.join(terra.cat([self.encode(left), self.encode(right)], 1)))


def put_off():
    stats = terra.capture.stats()
    return stats["runs"]["recursive"], stats["batches"]


model = Tree()
for word in range(10):  # a leaf is all that it has seen
    model.encode(word).sum().backward()
assert put_off() == (0, 0)
batch = [((1, 2), (3, (4, word))) for word in range(10)]
for step in range(12):
    calls, batches = put_off()
    sum(model.encode(tree).sum() for tree in batch).backward()
calls, batches = put_off()[0] - calls, put_off()[1] - batches
assert calls >= 80, calls  # 50 leaves and 40 joins
assert calls >= 5 * batches, (calls, batches)
