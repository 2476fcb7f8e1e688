# run: --torch
# run: --torch --capture=stress
# run: --torch --capture=off
"""Calls that ran as a batch have saved what calls by themselves would have: what is written between them and a gradient
shows in it, or is an error, just as there."""
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

W, c, x = (wave(*size).float().requires_grad_() for size in ((3, 3), (3,), (8, 3)))
LEAVES = [k % 8 for k in range(11)]


def tree(first, count):
    if count == 1:
        return LEAVES[first % len(LEAVES)]
    left = 1 + (first + count) % (count - 1)
    return tree(first, left), tree(first + left, count - left)


def said(f):
    try:
        return f()
    except RuntimeError as error:
        return str(error).partition("inplace operation")[0][:40]


def network(leaf, join):
    states = []

    def encode(node):
        if isinstance(node, int):
            return leaf(node)
        state = join(encode(node[0]), encode(node[1]))
        states.append(state)
        return state

    return encode, states


def undone(tensor, change):
    """What is changed is as before afterwards."""
    before = tensor.detach().clone()
    change()

    def undo():
        tensor.data = before

    return undo


def inner_state_behind_a_write(i):
    encode, states = network(lambda w: x[w] * 2, lambda a, b: torch.tanh(a @ W) + torch.maximum(b, c))
    state = encode(tree(i, 5 + i % 3))
    written = c if i % 2 else x
    undo = undone(written, lambda: written.data.add_(0.3))
    given = torch.autograd.grad(state.sum(), [states[0], W], retain_graph=True)
    undo()
    return given


def a_weight_written_by_data(i):
    encode, states = network(lambda w: x[w] * 2, lambda a, b: torch.tanh(a @ W + b))
    state = encode(tree(i, 4 + i % 3))
    float(state.sum())
    undo = undone(W, lambda: W.data.mul_(0.5))
    given = torch.autograd.grad(state.sum(), [states[0], states[-1], W, x], allow_unused=True)
    undo()
    return given


def one_of_two_results(i):
    encode, _ = network(lambda w: (x[w] * 2, torch.sigmoid(x[w] @ W)), lambda a, b: (a[0] + b[0], torch.tanh(a[1] * b[1])))
    first, second = encode(tree(i, 4))
    undo = undone(W, lambda: W.data.mul_(1.0))
    with torch.no_grad():
        W.mul_(0.5)
    given = torch.autograd.grad(first.sum(), [x], retain_graph=True), said(lambda: second.sum().backward())
    undo()
    return given


def twice_by_numbers(i):
    encode, _ = network(lambda w: x[w] * 2, lambda a, b: (a + b) * 0.5)
    state = encode(tree(i, 5))
    state.sum().backward()
    given = said(lambda: state.sum().backward()), x.grad
    x.grad = None
    return given


def a_result_that_was_looked_at(i):
    encode, states = network(lambda w: torch.softmax(x[w], -1), lambda a, b: torch.softmax(a + b, -1))
    state = encode(tree(i, 4))
    name = state.grad_fn.name()
    with torch.no_grad():
        (state if i % 2 else states[0]).add_(1)
    return name, said(lambda: torch.autograd.grad((state * c).sum(), [x]))


def second_behind_a_write(i):
    encode, _ = network(lambda w: x[w] * 1, lambda a, b: torch.where(a > 0, a, c) + b)
    state = encode(tree(i, 5))
    with torch.no_grad():
        c.add_(0.25)
    given = torch.autograd.grad((state * state).sum(), [c, x], create_graph=True)
    with torch.no_grad():
        c.sub_(0.25)
    return given, torch.autograd.grad(sum((g * g).sum() for g in given), [c, x])


items = []
for program in (inner_state_behind_a_write, a_weight_written_by_data, one_of_two_results, twice_by_numbers,
                a_result_that_was_looked_at, second_behind_a_write):  # fmt: skip
    for i in range(40):
        value = program(i)
        if i % 5 == 4:
            items.append((f"{program.__name__} {i}", value))
check(items, __file__)
