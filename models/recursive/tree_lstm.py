"""Binary TreeLSTM (Tai et al. 2015): each child has a forget gate of its own."""

import torch
from torch import nn

from .sentiment import SentimentModel


class TreeLSTM(SentimentModel):
    """States are pairs: the state and the cell."""

    def __init__(self, words, embedding=300, hidden=150, dropout=0.5):
        super().__init__(words, embedding, hidden, dropout)
        self.leaf = nn.Linear(embedding, 3 * hidden)
        self.gates = nn.Linear(2 * hidden, 5 * hidden)

    def at_leaf(self, node):
        i, o, u = self.leaf(self.word(node)).chunk(3, 1)
        c = torch.sigmoid(i) * torch.tanh(u)
        return torch.sigmoid(o) * torch.tanh(c), c

    def at_node(self, left, right):
        (hl, cl), (hr, cr) = left, right
        i, fl, fr, o, u = self.gates(torch.cat([hl, hr], 1)).chunk(5, 1)
        c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(fl) * cl + torch.sigmoid(fr) * cr
        return torch.sigmoid(o) * torch.tanh(c), c

    def encode(self, node, states):
        if node.is_leaf:
            state = self.at_leaf(node)
        else:
            state = self.at_node(self.encode(node.left, states), self.encode(node.right, states))
        states.append(state[0])
        return state
