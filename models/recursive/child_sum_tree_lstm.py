"""Child-sum TreeLSTM (Tai et al. 2015): any number of children, in no order, with a forget gate for each."""

import torch
from torch import nn

from .sentiment import SentimentModel


class ChildSumTreeLSTM(SentimentModel):
    def __init__(self, words, embedding=300, hidden=150, dropout=0.5):
        super().__init__(words, embedding, hidden, dropout)
        self.leaf = nn.Linear(embedding, 3 * hidden)
        self.gates = nn.Linear(hidden, 3 * hidden)
        self.forget = nn.Linear(hidden, hidden)

    def encode(self, node, states):
        """The state and the cell."""
        if node.is_leaf:
            i, o, u = self.leaf(self.word(node)).chunk(3, 1)
            c = torch.sigmoid(i) * torch.tanh(u)
        else:
            below = [self.encode(child, states) for child in node.children]
            i, o, u = self.gates(sum(h for h, _ in below)).chunk(3, 1)
            c = torch.sigmoid(i) * torch.tanh(u)
            for child_h, child_c in below:
                c = c + torch.sigmoid(self.forget(child_h)) * child_c
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append(h)
        return h, c
