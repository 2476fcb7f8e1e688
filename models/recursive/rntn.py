"""Recursive neural tensor network (Socher et al. 2013): each unit of a node is a quadratic form of both children."""

import torch
from torch import nn

from .sentiment import SentimentModel


class RNTN(SentimentModel):
    def __init__(self, words, embedding=300, hidden=30, dropout=0.0):
        super().__init__(words, embedding, hidden, dropout)
        self.leaf = nn.Linear(embedding, hidden)
        self.join = nn.Linear(2 * hidden, hidden)
        self.forms = nn.Linear(2 * hidden, hidden * 2 * hidden, bias=False)
        nn.init.uniform_(self.forms.weight, -0.25 / hidden, 0.25 / hidden)
        self.hidden = hidden

    def encode(self, node, states):
        if node.is_leaf:
            h = torch.tanh(self.leaf(self.word(node)))
        else:
            both = torch.cat([self.encode(node.left, states), self.encode(node.right, states)], 1)
            rows = self.forms(both).view(self.hidden, 2 * self.hidden)
            h = torch.tanh((rows * both).sum(1).unsqueeze(0) + self.join(both))
        states.append(h)
        return h
