# run: --torch TERRA_EXACT=1
# run: --torch TERRA_EXACT=1 TERRA_CHAOS=guard=*@2
# run: --torch TERRA_EXACT=1 TERRA_CHAOS=assert=*@3
# run: --torch TERRA_EXACT=1 --capture=verify
"""What a capture assumed stops being true: each case goes through a miss, a fall back, a second entry or relaxation, with
the results of plain Python and nothing lost."""

import os
import sys

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _compare import bits, check  # noqa: E402

SCALE = 1.0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 8), nn.Linear(8, 4)
        self.flag = False
        self.drop = nn.Dropout(0.3)

    def forward(self, x):
        h = torch.tanh(self.a(x)) * SCALE
        if self.flag:
            h = h + 1
        return self.b(self.drop(h))


def step(model, opt, x):
    opt.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    opt.step()
    return loss


def steps(change):
    """A training loop in which change(i, model, x) happens before step i and may give another input or model."""

    def program():
        torch.manual_seed(0)
        model = Net()
        opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
        lines = []
        for i in range(24):
            x = torch.randn(6, 4)
            x = change(i, model, x)
            loss = step(model, opt, x)
            lines.append(f"{i} {bits(loss)} {bits(model.b.bias)}")
        change(0, model, x)
        return lines

    program.__name__ = change.__name__
    return program


def smaller_last_batch(i, model, x):
    return x[:2] if i % 8 == 7 else x


def eval_and_train(i, model, x):
    model.train(i % 6 < 4)
    return x


def dtype_change(i, model, x):
    if i == 12:
        model.double()
    if i == 0:
        model.float()
    return x.double() if i >= 12 else x


def other_flag(i, model, x):
    model.flag = i % 10 > 6
    return x


def replaced_layer(i, model, x):
    if i == 13:
        torch.manual_seed(9)
        model.b = nn.Linear(8, 4)
    return x


def changed_global(i, model, x):
    global SCALE
    SCALE = [1.0, 2.0, 0.5][i // 9] if i else 1.0
    return x


def weights_replaced_by_data(i, model, x):
    if i == 15:
        model.a.weight.data = torch.ones(8, 4) * 0.1
    return x


def gradients_kept(i, model, x):
    if i == 11:
        model.b.bias.requires_grad_(False)
    if i == 17:
        model.b.bias.requires_grad_(True)
    return x


def tied_weights():
    """Two layers that share a parameter from some call on."""
    torch.manual_seed(0)
    one, two = nn.Linear(4, 4), nn.Linear(4, 4)
    lines = []

    def forward(x):
        return two(torch.relu(one(x))).sum()

    for i in range(20):
        if i == 10:
            two.weight = one.weight
        one.zero_grad(), two.zero_grad()
        loss = forward(torch.randn(3, 4))
        loss.backward()
        lines.append(f"{i} {bits(loss)} {bits(one.weight.grad)} {bits(two.weight.grad)}")
        with torch.no_grad():
            one.weight.sub_(one.weight.grad, alpha=0.1)
    return lines


def overlapping_views():
    """A write to one argument that is a write to the other too."""
    flat = torch.arange(12.0)

    def f(a, b):
        a += 1
        c = b * 2
        a *= 1.5
        return c + b

    lines = []
    for i in range(24):
        a, b = (flat[:6], flat[6:]) if i % 5 < 3 else (flat[:6], flat[3:9]) if i % 5 == 3 else (flat[:6], flat[:6])
        lines.append(f"{i} {bits(f(a, b))} {bits(flat)}")
        flat.div_(1.2)
    return lines


def branch_on_a_value():
    """An assertion inside the graph that fails now and then."""
    state = {"high": 0, "low": 0}

    def f(x):
        y = x * 2
        if y.sum() > 1.0:
            state["high"] += 1
            return y - 1
        state["low"] += 1
        return y + 1

    lines = []
    for i in range(24):
        x = torch.full((3,), 1.0 if i % 7 else -1.0) * (i + 1)
        lines.append(f"{i} {bits(f(x))} {state['high']} {state['low']}")
    return lines


def exception_inside():
    """A call that raises half-way has done what it did before, once."""
    log = []

    def f(x, w):
        log.append(float(x.sum()))
        y = F.linear(x, w)
        log.append(y.shape[0])
        return y.relu().sum()

    lines = []
    for i in range(20):
        w = torch.ones(2, 3 if i % 6 != 5 else 4)
        try:
            lines.append(f"{i} {bits(f(torch.full((2, 3), float(i)), w))}")
        except RuntimeError as error:
            lines.append(f"{i} {error}")
        lines.append(f"{len(log)}")
    return lines


def random_state():
    """Numbers drawn inside a graph and outside of it come from one stream."""
    torch.manual_seed(4)
    drop = nn.Dropout(0.5)

    def f(x):
        return drop(x) + torch.randn(4)

    lines = []
    for i in range(20):
        lines.append(bits(f(torch.ones(4))))
        if i % 5 == 0:
            lines.append(bits(torch.rand(1)))
        if i == 12:
            torch.manual_seed(7)
    return lines


programs = [
    *map(steps, (smaller_last_batch, eval_and_train, dtype_change, other_flag, replaced_layer, changed_global,
                 weights_replaced_by_data, gradients_kept)),
    tied_weights, overlapping_views, branch_on_a_value, random_state,
]  # fmt: skip
for program in programs:
    check(program, replays=4)
check(exception_inside, replays=0)
print(f"{len(programs) + 1} passed")
