# run: --torch TERRA_EXACT=1
# run: --torch TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# timeout: 600
"""The recursive networks of models/recursive in small: each trains alike with and without capture, learns, and moves only
words that it has met; forms of the TreeLSTM without recursion compute the same."""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["TERRA_SOURCE"], "models"))
sys.path.insert(0, os.path.join(os.environ["TERRA_SOURCE"], "apps", "bench", "terra_bench"))

import torch  # noqa: E402
from _compare import bits, check  # noqa: E402
from programs.tree_forms import FORMS  # noqa: E402
from recursive import MODELS, ChildSumTreeLSTM, Tree, TreeLSTM, drawn_treebank  # noqa: E402
from recursive.training import OPTIMIZERS, TreeOptimizer, root_accuracy, train_step  # noqa: E402

WORDS = 40
DRAWN = drawn_treebank(counts={"train": 300, "dev": 0, "test": 0}, words=WORDS).train
EXAMPLES = [example for example in DRAWN if len(example.tree.words()) <= 7][:12]
BATCHES = [EXAMPLES[k : k + 3] for k in range(0, 12, 3)]


def made(model, dropout=0.0):
    torch.manual_seed(0)
    return model(WORDS, embedding=6, hidden=5, dropout=dropout)


def training(model, optimizer, steps=12):
    """A program for _compare: losses on the way, classes found at its end, and all weights."""

    def program():
        net = made(model, dropout=0.25)
        opt = TreeOptimizer(net, optimizer)
        lines = [bits(train_step(net, opt, BATCHES[k % len(BATCHES)])) for k in range(steps)]
        lines.append(bits(root_accuracy(net, EXAMPLES)))
        return lines + [f"{name} {bits(p)}" for name, p in net.named_parameters()]

    program.__name__ = f"{model.__name__} by {optimizer}"
    return program


def every_weight_gets_a_gradient(model):
    net = made(model)
    sum(net.loss(*example) for example in EXAMPLES).backward()
    for name, p in net.named_parameters():
        assert p.grad is not None and bool((p.grad.to_dense() != 0).any()), f"{model.__name__}.{name} has no gradient"


def loss_falls(model):
    net = made(model)
    opt = TreeOptimizer(net, lr=0.1, word_lr=0.1)
    first = train_step(net, opt, EXAMPLES).item()
    for _ in range(20):
        last = train_step(net, opt, EXAMPLES).item()
    assert last < 0.8 * first, f"{model.__name__}: the loss of a tree went from {first} to {last}"


def only_words_of_the_batch_move(optimizer):
    net = made(TreeLSTM)
    before = net.words.weight.detach().clone()
    train_step(net, TreeOptimizer(net, optimizer), BATCHES[0])
    moved = {row for row in range(WORDS) if not torch.equal(before[row], net.words.weight[row])}
    met = {word for tree, _ in BATCHES[0] for word in tree.words()}
    assert moved == met, f"{optimizer} moved words {sorted(moved ^ met)} by mistake, or left them"


def forms_agree(model, forms):
    recursive = made(model)
    sum(recursive.loss(*example) for example in EXAMPLES).backward()
    for name, form in forms.items():
        net = made(model)
        form(torch, net)(EXAMPLES).backward()
        for (weight, p), q in zip(net.named_parameters(), recursive.parameters()):
            a, b = p.grad.to_dense(), q.grad.to_dense()
            assert torch.allclose(a, b, rtol=1e-4, atol=1e-5), f"{name}: the gradient of {weight} differs by {(a - b).abs().max()}"


def children_in_any_order():
    """The child-sum network takes any number of children, and does not mind their order."""
    net = made(ChildSumTreeLSTM)
    leaves = [Tree(2, word) for word in (3, 4, 5)]
    a = net.encode(Tree(2, None, leaves), [])
    b = net.encode(Tree(2, None, leaves[::-1]), [])
    one = net.encode(Tree(2, None, leaves[:1]), [])
    assert torch.allclose(a[0], b[0], atol=1e-6) and torch.allclose(a[1], b[1], atol=1e-6), (a, b)
    assert not torch.allclose(a[0], one[0], atol=1e-3), (a, one)


def says(f, error, words):
    try:
        f()
    except error as raised:
        assert words in str(raised), str(raised)
    else:
        raise AssertionError(f"no {error.__name__} about {words!r}")


for model in MODELS.values():
    check(training(model, "adagrad"), replays=0)
    every_weight_gets_a_gradient(model)
    loss_falls(model)
for name in OPTIMIZERS:
    check(training(TreeLSTM, name), replays=0)
    only_words_of_the_batch_move(name)
for name, forms in FORMS.items():
    forms_agree(MODELS[name], forms)
children_in_any_order()
net = made(TreeLSTM)
says(lambda: train_step(net, TreeOptimizer(net), []), ValueError, "can't train on a batch of no trees")
says(lambda: root_accuracy(net, []), ValueError, "can't judge a model on no trees")
says(lambda: net(Tree(2, WORDS)), IndexError, "out of range")
