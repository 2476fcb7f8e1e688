"""TreeRNN (Socher et al. 2011): the state of a node is one layer over the states of its two children."""

import torch
from torch import nn

from .sentiment import SentimentModel


class TreeRNN(SentimentModel):
    def __init__(self, words, embedding=300, hidden=150, dropout=0.5):
        super().__init__(words, embedding, hidden, dropout)
        self.leaf = nn.Linear(embedding, hidden)
        self.join = nn.Linear(2 * hidden, hidden)

    def encode(self, node, states):
        if node.is_leaf:
            h = torch.tanh(self.leaf(self.word(node)))
        else:
            h = torch.tanh(self.join(torch.cat([self.encode(node.left, states), self.encode(node.right, states)], 1)))
        states.append(h)
        return h
