"""Binary TreeLSTM (Tai et al. 2015): each child has a forget gate of its own."""

import torch
from torch import nn

from .sentiment import SentimentModel


class TreeLSTM(SentimentModel):
    def __init__(self, words, embedding=300, hidden=150, dropout=0.5):
        super().__init__(words, embedding, hidden, dropout)
        self.leaf = nn.Linear(embedding, 3 * hidden)
        self.gates = nn.Linear(2 * hidden, 5 * hidden)

    def encode(self, node, states):
        """The state and the cell."""
        if node.is_leaf:
            i, o, u = self.leaf(self.word(node)).chunk(3, 1)
            c = torch.sigmoid(i) * torch.tanh(u)
        else:
            (hl, cl), (hr, cr) = self.encode(node.left, states), self.encode(node.right, states)
            i, fl, fr, o, u = self.gates(torch.cat([hl, hr], 1)).chunk(5, 1)
            c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(fl) * cl + torch.sigmoid(fr) * cr
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append(h)
        return h, c
