# run: --torch
# run: --torch --capture=stress
# run: --torch --capture=off
# run: --torch TERRA_EXACT=1
"""Results that follow from each other have one node behind a captured call. Whoever looks at what passes at one of them
finds all of its gradient there, whenever they begin to look."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

torch.set_default_dtype(torch.float64)
items = []
SOURCE = """
def step(x, w, v):
    c = torch.tanh(x @ w)
    h = c * torch.sigmoid(c @ w) + x
    return c, h, (h @ v).sum(1)
"""


def fresh():
    """A function that nobody has looked between results of, captured and passed as a whole."""
    space = {"torch": torch}
    exec(compile(SOURCE, "step", "exec"), space)
    step = space["step"]
    for _ in range(6):
        made = step(*given())
        (made[0].sum() + made[1].exp().sum() + made[2].sum()).backward()
    return step


def given():
    return (wave(3, 4).requires_grad_(), (wave(4, 4) * 0.5).requires_grad_(), wave(4, 2).requires_grad_())


def loss_of(c, h, y):
    return (c * c).sum() + (h * 0.25).exp().sum() + (y * y).sum()


def note(name, *values):
    items.append((name, [None if v is None else v.detach() if isinstance(v, torch.Tensor) else v for v in values]))


def program(function):
    step, inputs = fresh(), given()
    made = step(*inputs)
    try:
        found = function(step, inputs, *made)
    except RuntimeError as e:
        found = ["modified by an inplace" in str(e), "second time" in str(e)]
    note(function.__name__, *found, *(t.grad for t in inputs))
    again = given()
    loss_of(*step(*again)).backward()
    note(function.__name__ + " and one more", *(t.grad for t in again))


@program
def whole(step, inputs, c, h, y):
    loss_of(c, h, y).backward()
    return []


@program
def one_result(step, inputs, c, h, y):
    (y * y).sum().backward()
    return []


@program
def the_first_result(step, inputs, c, h, y):
    (c * c).sum().backward()
    return []


@program
def hook_that_replaces(step, inputs, c, h, y):
    seen = []

    def hook(g):
        seen.append(g.clone())
        return g * 0.5

    c.register_hook(hook)
    h.register_hook(hook)
    loss_of(c, h, y).backward()
    return seen


@program
def hook_on_the_last(step, inputs, c, h, y):
    seen = []
    y.register_hook(lambda g: seen.append(g.clone()))
    loss_of(c, h, y).backward()
    return seen


@program
def kept_gradients(step, inputs, c, h, y):
    c.retain_grad()
    h.retain_grad()
    loss_of(c, h, y).backward()
    return [c.grad, h.grad]


@program
def asked_of_results(step, inputs, c, h, y):
    return torch.autograd.grad(loss_of(c, h, y), [h, c, inputs[1], y])


@program
def backward_to_results(step, inputs, c, h, y):
    loss_of(c, h, y).backward(inputs=[c, inputs[2]])
    return [c.grad]


@program
def several_passes(step, inputs, c, h, y):
    loss = loss_of(c, h, y)
    loss.backward(retain_graph=True)
    first = [t.grad.clone() for t in inputs]
    h.register_hook(lambda g: g * 2)
    loss.backward(retain_graph=True)
    (c * 2).sum().backward(retain_graph=True)
    return first + list(torch.autograd.grad(loss, [c, h]))


@program
def result_after_result(step, inputs, c, h, y):
    (y * y).sum().backward()
    (c * c).sum().backward()
    return []


@program
def looked_at_behind_a_pass(step, inputs, c, h, y):
    loss_of(c, h, y).backward()
    h.register_hook(lambda g: g)
    h.sum().backward()
    return []


@program
def gradient_of_a_gradient(step, inputs, c, h, y):
    c.retain_grad()
    (g,) = torch.autograd.grad(loss_of(c, h, y), inputs[0], create_graph=True)
    (g * g).sum().backward()
    return [g, c.grad]


@program
def gradient_of_a_gradient_kept_later(step, inputs, c, h, y):
    (g,) = torch.autograd.grad(loss_of(c, h, y), inputs[0], create_graph=True)
    c.retain_grad()
    h.retain_grad()
    (g * g).sum().backward()
    return [g, c.grad, h.grad]


@program
def gradient_of_a_gradient_hooked(step, inputs, c, h, y):
    seen = []
    c.register_hook(lambda g: (seen.append(g.clone()), g * 0.5)[1])
    (g,) = torch.autograd.grad(loss_of(c, h, y), inputs[0], create_graph=True)
    h.register_hook(lambda g: seen.append(g.clone()))
    ((g * g).sum() + loss_of(c, h, y)).backward()
    return [g] + seen


@program
def gradient_of_a_gradient_asked_of_a_result(step, inputs, c, h, y):
    first = torch.autograd.grad(loss_of(c, h, y), inputs[:2], create_graph=True)
    second = torch.autograd.grad(sum((g * g).sum() for g in first), [c, inputs[0]], create_graph=True)
    return [*first, *second, *torch.autograd.grad(second[1].exp().sum(), [c, h, inputs[1]])]


@program
def gradient_of_a_gradient_that_frees(step, inputs, c, h, y):
    (g,) = torch.autograd.grad(loss_of(c, h, y), inputs[0], create_graph=True)
    (g * g).sum().backward()
    (c * c).sum().backward()
    return [g]


@program
def asked_inside_a_pass(step, inputs, c, h, y):
    seen, loss = [], loss_of(c, h, y)
    inputs[1].register_hook(lambda g: seen.extend(torch.autograd.grad(loss, [h, c], retain_graph=True)))
    loss.backward(retain_graph=True)
    return seen


@program
def written_in_between(step, inputs, c, h, y):
    with torch.no_grad():
        inputs[1].add_(1)
    loss_of(c, h, y).backward()
    return []


@program
def written_for_others_alone(step, inputs, c, h, y):
    with torch.no_grad():
        inputs[2].add_(1)
    ((c * c).sum() + (h * h).sum()).backward()
    return []


@program
def bytes_written_and_looked_at(step, inputs, c, h, y):
    inputs[0].data.mul_(2)
    seen = []
    h.register_hook(lambda g: seen.append(g.clone()))
    loss_of(c, h, y).backward()
    return seen


@program
def nodes_looked_at(step, inputs, c, h, y):
    names = [type(t.grad_fn).__name__ for t in (c, h, y)]
    behind = [type(f).__name__ for t in (c, h, y) for f, _ in t.grad_fn.next_functions if f]
    loss_of(c, h, y).backward()
    return names + behind


@program
def step_after_step(step, inputs, c, h, y):
    seen, sums = [], []
    x, w, v = inputs
    for k in range(4):
        c, x, y = step(x, w, v)
        if k == 1:
            x.register_hook(lambda g: seen.append(g.clone()))
        sums.append(y.sum() + c.mean())
    sum(sums).backward()
    return seen


def columns(x, order):
    h = torch.tanh(x[:, :, order])
    return h, h[:, order] * x[:, order, order].mean()


def mirrored(x, order):
    h = torch.tanh(torch.nn.functional.pad(x, (1, 1, 1, 1), mode="reflect"))
    return h, torch.nn.functional.pad(h, (1, 2, 1, 2), mode="reflect") * x.sum()


def turned(x, order, other):
    h = other.exp()
    return h, x[:, order[[0, 1, 2, 0]]].tanh() * h


for function in (columns, mirrored, turned):
    for which in ([0], [1], [0, 1]) * 2:
        x, other = wave(2, 4, 4).requires_grad_(), wave(2, 4, 4).requires_grad_()
        made = function(x, torch.tensor([0, 2, 1]), *([other] if function is turned else []))
        sum(made[k].exp().sum() for k in which).backward()
        note(f"{function.__name__} {which}", x.grad, other.grad)

check(items, __file__)
