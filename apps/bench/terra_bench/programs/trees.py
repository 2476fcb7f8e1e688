"""One training step of a recursive network over a mini-batch of trees: structure, embeddings, forward, loss, backward and
update. The models are those of models/recursive, in plain recursion unless another form is asked for."""

import pathlib
import random
import sys

from .batches import in_turn
from .tree_forms import FORMS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "models"))

EMBEDDING, HIDDEN, WORDS, BATCHES = 300, 150, 18000, 4
LEARNING_RATE = 1e-3  # the decisions of a network that grows trees should not drift apart while they are timed


def build(torch, model, batch, form="recursive", shape="natural", optimizer="sgd", data=""):
    from recursive import MODELS
    from recursive.training import TreeOptimizer

    examples, words = examples_of(shape, BATCHES * int(batch), data)
    torch.manual_seed(0)
    net = MODELS[model](words, EMBEDDING, HIDDEN, dropout=0.0)
    opt = TreeOptimizer(net, optimizer, LEARNING_RATE, LEARNING_RATE, 0.0)

    def recursive(some):
        return sum(net.loss(*example) for example in some)

    loss_of = recursive if form == "recursive" else FORMS[model][form](torch, net)

    def train_step(*some):
        opt.zero_grad()
        loss = loss_of(some) / len(some)
        loss.backward()
        opt.step()
        return loss

    batches = [examples[k::BATCHES] for k in range(BATCHES)]
    step = in_turn(train_step, batches)
    step.facts = lambda: {"flops": product_flops(torch, net, lambda: recursive(examples)) / BATCHES}
    return step


def examples_of(shape, count, data):
    """(examples, number of words): from a treebank, or drawn in a shape."""
    from recursive import draw_tree, read_treebank
    from recursive.drawn import word_feelings
    from recursive.treebank import example

    draw = random.Random(0)
    if data:
        bank = read_treebank(data)
        return draw.sample(bank.train, count), len(bank.vocabulary)
    feelings = word_feelings(draw, WORDS)
    return [example(draw_tree(draw, feelings, shape)) for _ in range(count)], WORDS


def product_flops(torch, net, forward):
    """Of the matrix products of a step: each layer's forward, and twice that for the gradients of input and weight."""
    total = 0

    def count(layer, given, result):
        nonlocal total
        total += 3 * 2 * result.numel() * layer.in_features

    layers = [module for module in net.modules() if isinstance(module, torch.nn.Linear)]
    handles = [layer.register_forward_hook(count) for layer in layers]
    with torch.no_grad():
        forward()
    for handle in handles:
        handle.remove()
    return total
