"""A recursion that sums what it makes of its children, and a leaf that all of its calls use."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import wave  # noqa: E402


class Node:
    def __init__(self, state, *children):
        self.state, self.children = state, children


def encode(node):
    if not node.children:
        return torch.tanh(node.state * weight)
    return sum(encode(child) for child in node.children) * node.state


weight = wave(3).requires_grad_()
