# run: --torch
# run: --torch --capture=stress
# run: --torch --capture=off
"""Gradients asked of results of recursive calls, one of which has a hook: where the pass ends there, the hook has its say.
Other results of the calls that were put off together lead nowhere near."""

import pathlib
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

W, V, c, table = (wave(*size).float().requires_grad_() for size in ((3, 3), (6, 3), (3,), (6, 3)))


class Node:
    def __init__(self, word, *children):
        self.word, self.children = word, children


def encode(node):
    leaf = F.embedding(torch.tensor(node.word), table)
    if not node.children:
        return (leaf @ leaf) * c * c
    kids = [encode(child) for child in node.children]
    last = kids[-1]
    return (torch.cat([leaf, last]) @ V @ torch.where(last > 0, last, c)) * c


TREES = [Node(1), Node(2, Node(3)), Node(4, Node(5), Node(0, Node(1))), Node(0, Node(2))]


def step(trees, create_graph, late):
    made = [encode(t) for t in trees]
    if not late:
        made[-1].register_hook(lambda g: g * 2)
    losses = [F.cross_entropy(h, torch.tensor(2)) for h in made]
    found = list(torch.autograd.grad(sum(losses), made[:2], retain_graph=True, create_graph=create_graph))
    if late:
        made[-1].register_hook(lambda g: g * 2)
    (sum(losses) + (sum((g * g).sum() for g in found) if create_graph else 0)).backward()
    found += [p.grad for p in (V, c, table)]
    for p in (V, c, table):
        p.grad = None
    return [g.detach() for g in found]


items = []
for create_graph, late in ((False, False), (True, False), (True, True), (False, True)):
    for i in range(12):
        trees = [TREES[i % 4], TREES[(i + 1) % 4]]
        items.append((f"{create_graph} {late} {i}", step(trees, create_graph, late)))
check(items, __file__)
