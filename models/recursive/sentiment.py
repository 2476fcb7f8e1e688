"""What all models have in common: a table of words, and a classifier for the state of every node."""

import torch
import torch.nn.functional as F
from torch import nn

from .treebank import CLASSES


class SentimentModel(nn.Module):
    """A subclass encodes trees: encode(node, states) gives the state of a node and adds it, behind those of all nodes
    below it, to `states`."""

    def __init__(self, words, embedding=300, hidden=150, dropout=0.5):
        super().__init__()
        self.words = nn.Embedding(words, embedding, sparse=True)
        nn.init.uniform_(self.words.weight, -0.05, 0.05)
        self.classify = nn.Linear(hidden, CLASSES)
        self.dropout = nn.Dropout(dropout)

    def word(self, node):
        return self.words(torch.tensor([node.word]))

    def forward(self, tree):
        """Scores of the classes for every node, in the order of Tree.visit: nodes x classes."""
        states = []
        self.encode(tree, states)
        return self.classify(self.dropout(torch.cat(states)))

    def loss(self, tree, labels):
        """The sum over all nodes."""
        return F.cross_entropy(self(tree), labels, reduction="sum")

    def root_class(self, tree):
        return self(tree)[-1].argmax().item()
