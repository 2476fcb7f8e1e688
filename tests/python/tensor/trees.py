# run: --torch
# run: --torch --capture=off
"""What is a container to torch.utils._pytree, what describes it, and what comes back."""

import collections
import pathlib
import sys
import time

import torch
from torch.utils import _pytree as pytree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

Pair = collections.namedtuple("Pair", "first second")


class OwnTuple(tuple):
    pass


class OwnDict(dict):
    pass


TREES = {
    "size": torch.Size([2, 3]),
    "tuple": (1, [2, None]),
    "own tuple": OwnTuple((1, 2)),
    "own dict": OwnDict(a=1),
    "named": Pair(1, (2, 3)),
    "result": torch.tensor([[1.0, 2.0], [4.0, 3.0]]).max(0),
    "results": torch.linalg.slogdet(torch.eye(2)),
    "defaults": collections.defaultdict(int, a=1),
    "queue": collections.deque([1, 2], maxlen=3),
    "ordered": collections.OrderedDict(b=1, a=torch.Size([5])),
    "time": time.gmtime(0),
    "set": frozenset([1]),
}
items = []
for name, tree in TREES.items():
    leaves, spec = pytree.tree_flatten(tree)
    back = pytree.tree_map(lambda leaf: leaf, tree)
    items.append((name, [len(leaves), spec, type(back).__name__, leaves]))
    items.append((name + ", with keys", [pytree.keystr(path) for path, _ in pytree.tree_flatten_with_path(tree)[0]]))
items.append(("equal", pytree.tree_structure(torch.Size([1, 2])) == pytree.tree_structure((1, 2))))

check(items, __file__)
