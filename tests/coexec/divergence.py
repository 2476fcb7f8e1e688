# run: --torch TERRA_EXACT=1
"""Iterations that go other ways than those before."""
import random

import torch
from torch import nn
from torch.nn import functional as F

from _harness import compare, counts, run, run_tests


def batches(steps):
    generator = torch.Generator().manual_seed(5)
    return [torch.randn(4, 5, generator=generator) for _ in range(steps)]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(5, 8), nn.Linear(8, 8), nn.Linear(8, 1)

    def forward(self, x, way):
        x = torch.tanh(self.a(x))
        if way == 1:
            x = torch.relu(self.b(x))
        elif way == 2:
            for _ in range(3):
                x = torch.sigmoid(x * 2)
        return self.c(x)


def train(ways, between=lambda step, loss: None):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    said = []
    for step, x in enumerate(batches(len(ways))):
        loss = (net(x, ways[step]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        said.append(between(step, loss))
        optimizer.step()
        said.append(loss.item())
    return said + [p.tolist() for p in net.parameters()]


def branches_that_are_learned():
    draw = random.Random(1)
    ways = [0] * 10 + [draw.randrange(3) for _ in range(80)]
    compare(lambda: train(ways), iterations=20, divergences=1)


def an_op_at_every_place_of_an_iteration():
    def late(at):
        def program():
            said = []
            w = torch.ones(3, requires_grad=True)
            for step in range(14):
                x = torch.arange(3.0) + step
                for place in range(6):
                    x = torch.sin(x) * w
                    if step == 12 and place == at:
                        x = torch.cos(x) + 1
                said.append(x.sum().item())
            return said

        program.__code__ = program.__code__.replace()  # nothing is known of its way yet
        return program

    for at in range(6):
        compare(late(at), iterations=3, divergences=1)


def an_exception_in_the_middle():
    def program():
        w, said = torch.ones(4, requires_grad=True), []
        optimizer = torch.optim.SGD([w], lr=0.1)
        for step in range(30):
            try:
                loss = (torch.exp(w * 0.1) * torch.arange(4.0)).sum()
                optimizer.zero_grad()
                loss.backward()
                if step % 7 == 6:
                    raise KeyError(step)
                optimizer.step()
            except KeyError:
                said.append((w.tolist(), w.grad.tolist()))
            said.append(loss.item())
        return said

    compare(program)


def a_shape_that_doesnt_fit():
    def program():
        w, said = torch.ones(4), []
        for step in range(20):
            y = torch.exp(w) * 2
            try:
                y = y @ torch.ones(3 if step % 5 == 4 else 4)
            except RuntimeError as error:
                said.append(str(error))
            said.append(y.sum().item())
        return said

    compare(program)


def sizes_that_change():
    def program():
        w, said = torch.ones(3, requires_grad=True), []
        for step in range(40):
            x = torch.ones(2 + step % 4, 3) * step
            said.append((torch.tanh(x * w) + 1).sum().item())
        return said

    compare(program)


def a_number_that_changes():
    def program():
        x, said = torch.arange(4.0), []
        for step in range(20):
            said.append((torch.exp(x * (0.01 * step)) + 0.5 * step).sum().item())
        return said

    compare(program, graphs=3)


def always_another_way_is_left_alone():
    def program():
        x, said = torch.arange(4.0), []
        for step in range(60):
            exec(compile(f"y = torch.exp(x * 0.1)\nfor _ in range(2): y = torch.tanh(y) + {step}", "<s>", "exec"),
                 {"torch": torch, "x": x}, space := {})
            said.append(space["y"].sum().item())
        return said

    before = counts()
    assert run(program, "off") == run(program, "coexec")
    assert counts()["divergences"] - before["divergences"] < 30


run_tests([branches_that_are_learned, an_op_at_every_place_of_an_iteration, an_exception_in_the_middle,
           a_shape_that_doesnt_fit, sizes_that_change, a_number_that_changes, always_another_way_is_left_alone])
