"""Top-down TreeLSTM (after Zhang et al. 2016): from the sentence as a whole, the network grows the tree over it.

Each node decides by its own state whether it has children. In training the true tree goes along: a node learns its label
and whether it should have had children, and growth ends where either of the two trees ends."""

import torch
import torch.nn.functional as F
from torch import nn

from .sentiment import SentimentModel


class TopDownTreeLSTM(SentimentModel):
    def __init__(self, words, embedding=300, hidden=150, dropout=0.5):
        super().__init__(words, embedding, hidden, dropout)
        self.sentence = nn.Linear(embedding, 3 * hidden)
        self.gates = nn.Linear(hidden, 8 * hidden)  # of the left child and of the right one
        self.expand = nn.Linear(hidden, 1)
        nn.init.constant_(self.expand.bias, 1.0)  # a tree that stops at its root has nothing to learn from

    def start(self, tree):
        """State and cell of the root."""
        i, o, u = self.sentence(self.words(torch.tensor(tree.words())).mean(0, keepdim=True)).chunk(3, 1)
        c = torch.sigmoid(i) * torch.tanh(u)
        return torch.sigmoid(o) * torch.tanh(c), c

    def grow(self, node, h, c, states, wishes, nodes):
        """Adds what it visits: states, scores of having children, nodes of the true tree; parents before children."""
        wish = self.expand(h)
        states.append(h)
        wishes.append(wish)
        nodes.append(node)
        if node.is_leaf or wish.item() < 0:
            return
        sides = self.gates(h).chunk(2, 1)
        for child, gates in zip(node.children, sides):
            i, f, o, u = gates.chunk(4, 1)
            child_c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(f) * c
            self.grow(child, torch.sigmoid(o) * torch.tanh(child_c), child_c, states, wishes, nodes)

    def loss(self, tree, labels):
        states, wishes, nodes = [], [], []
        self.grow(tree, *self.start(tree), states, wishes, nodes)
        scores = self.classify(self.dropout(torch.cat(states)))
        of_labels = F.cross_entropy(scores, torch.tensor([node.label for node in nodes]), reduction="sum")
        inner = torch.tensor([[0.0 if node.is_leaf else 1.0] for node in nodes])
        return of_labels + F.binary_cross_entropy_with_logits(torch.cat(wishes), inner, reduction="sum")

    def forward(self, tree):
        """Scores of the root's classes: 1 x classes."""
        h, _ = self.start(tree)
        return self.classify(self.dropout(h))
