"""Training and judging of tree models."""

import torch

# For each way to train: the optimizer of all weights but the words, and that of the words, whose gradients are sparse.
OPTIMIZERS = {
    "sgd": (torch.optim.SGD, torch.optim.SGD),
    "adagrad": (torch.optim.Adagrad, torch.optim.Adagrad),
    "adam": (torch.optim.Adam, torch.optim.SparseAdam),
}


class TreeOptimizer:
    """One optimizer for the words and one for everything else. A step moves only words that the batch had."""

    def __init__(self, model, name="adagrad", lr=0.05, word_lr=0.05, weight_decay=1e-4):
        dense, sparse = OPTIMIZERS[name]
        words = model.words.weight
        others = [p for p in model.parameters() if p is not words]
        self.parts = [dense(others, lr=lr, weight_decay=weight_decay), sparse([words], lr=word_lr)]

    def zero_grad(self):
        for part in self.parts:
            part.zero_grad()

    def step(self):
        for part in self.parts:
            part.step()


def train_step(model, optimizer, batch):
    """One step on a list of examples; the loss of a tree on average."""
    if not batch:
        raise ValueError("can't train on a batch of no trees: the loss would be a mean over nothing; give one or more")
    optimizer.zero_grad()
    loss = 0
    for tree, labels in batch:
        loss = loss + model.loss(tree, labels)
    loss = loss / len(batch)
    loss.backward()
    optimizer.step()
    return loss


def root_accuracy(model, examples):
    """The share of sentences whose class is found."""
    if not examples:
        raise ValueError("can't judge a model on no trees; give one or more")
    model.eval()
    with torch.no_grad():
        right = sum(model.root_class(tree) == tree.label for tree, _ in examples)
    model.train()
    return right / len(examples)
