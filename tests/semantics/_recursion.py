"""What the programs about recursion share: shapes to walk, drawn by a seed, and weights.

Nothing is asked of how often a call is served: a recursion that can't be taken is left to CPython, and must look the same.
"""
import random

import terra
from _harness import program

LEAST_CALLS = 14


def recursive(make=None, calls=LEAST_CALLS):
    """Registers a recursive program."""
    register = program(calls=calls, captures=0)
    return register(make) if make else register


def nested(seed, most=7):
    """A binary tree as nested pairs of word numbers: 3 or (3, (1, 4)); 1 to `most` leaves, every shape likely to come."""
    draw = random.Random(seed)

    def grow(leaves):
        if leaves == 1:
            return draw.randrange(8)
        left = draw.randint(1, leaves - 1)
        return grow(left), grow(leaves - left)

    return grow(draw.randint(1, most))


def built(shape, leaf, pair):
    """The same tree out of other parts: leaf(word), pair(left, right)."""
    if isinstance(shape, int):
        return leaf(shape)
    return pair(built(shape[0], leaf, pair), built(shape[1], leaf, pair))


def bushy(seed, node, depth=3):
    """A tree whose nodes have 0 to 3 children: node(word, children)."""
    draw = random.Random(seed)

    def grow(depth):
        count = draw.choice((0, 1, 2, 3)) if depth else 0
        return node(draw.randrange(8), [grow(depth - 1) for _ in range(count)])

    return grow(depth)


class Node:
    """A node as programs have it: a leaf has a word, others two children."""

    def __init__(self, word=None, left=None, right=None):
        self.word = word
        self.left = left
        self.right = right

    @property
    def is_leaf(self):
        return self.left is None


def tree(seed, node=Node, most=7):
    return built(nested(seed, most), node, lambda left, right: node(None, left, right))


def table(rows=8, columns=3, seed=0):
    """Weights with no two elements alike."""
    return terra.sin(terra.arange(float(rows * columns)) * 0.7 + seed).reshape(rows, columns)


def parameter(rows=8, columns=3, seed=0):
    return table(rows, columns, seed).requires_grad_()


def filled(module, seed=0):
    """The module with weights that are the same in every process."""
    with terra.no_grad():
        for k, p in enumerate(module.parameters()):
            p.copy_(terra.sin(terra.arange(float(p.numel())) * 0.9 + k + seed).reshape(p.shape) * 0.4)
    return module
