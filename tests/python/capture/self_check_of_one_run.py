"""What one run of a graph has made may lie behind something else that it has made: a frame that gets both is checked without
what comes to them by that way."""
import json

import _terra_C as C
import terra

table, scale = terra.sin(terra.arange(18.0)).view(6, 3).requires_grad_(), terra.ones(3, requires_grad=True)
seen = []


class Node:
    def __init__(self, word, children):
        self.word, self.children = word, children


def encode(node):
    kids = []
    leaf = table[node.word]
    if not node.children:
        return leaf, leaf * 2
    for child in node.children:
        kids.append(encode(child))
    h = terra.stack([k[0] for k in kids]).sum(0)
    last = kids[-1][1]
    seen.append(h)
    return (leaf @ last) * scale, last


def tree(spec):
    return Node(spec[0], [tree(child) if isinstance(child, tuple) else Node(child, []) for child in spec[1:]])


trees = [tree(spec) for spec in (
    (2, (1, (3, 4, (1, 4, 0)), (1, 3, 0))),
    (2, 2, (4, (0, 4, 0), (4, 4, 0), (3, (3, 5, 1), (5, 3, 5, 0)))),
    (5, (3, (2, (1, 2, 2), (0, 3, 3), 0), (3, (1, 5, 4), 1)), (4, 5, 5, (3, (5, (5, 0, 5, 3), 1, 3)))),
)]  # fmt: skip
for _ in range(3):
    states = [encode(t)[0] for t in trees]
    sum(h.sum() for h in states).backward()
report = json.loads(C.capture_report())
assert report["wrong"] == 0 and report["replays"] > 0, report
