# run: --torch TERRA_EXACT=1 TERRA_RUNNER=beside
# run: --torch TERRA_EXACT=1 TERRA_RUNNER=inline
# run: --torch TERRA_EXACT=1 TERRA_RUNNER=turns
"""A training loop whose way is known, disturbed before each op of an iteration in turn: it goes another way, raises, looks at
what is under way, turns co-execution off, forks. Afterwards everything is as in plain execution."""
import os

import terra
import torch
from torch import nn
from torch.nn import functional as F

from _harness import compare, run_tests

ITERATIONS, DISTURBED = 26, (14, 15, 20)


class Training:
    """An iteration in steps of about one op each; the steps leave their results here."""

    def __init__(self):
        self.first, self.norm, self.last = nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)
        modules = nn.ModuleList([self.first, self.norm, self.last])
        self.parameters = list(modules.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, lr=0.01)
        self.average = torch.zeros(3, 8)
        self.losses = []
        self.h = self.loss = self.gradients = None

    def steps(self, x, y):
        yield lambda: self.optimizer.zero_grad()
        yield lambda: self.set("h", self.first(x))
        yield lambda: self.set("h", self.norm(self.h))
        yield lambda: self.set("h", torch.relu(self.h))
        yield lambda: self.set("h", self.last(self.h * 1.5))
        yield lambda: self.set("loss", F.cross_entropy(self.h, y))
        yield lambda: self.loss.backward()
        yield lambda: self.set("gradients", torch.cat([p.grad.flatten() for p in self.parameters]).square().sum())
        yield lambda: self.last.weight.grad.mul_(0.9)
        yield lambda: self.optimizer.step()
        yield lambda: self.average.lerp_(self.last.weight.detach(), 0.1)
        yield lambda: self.losses.append(self.loss.detach())

    def set(self, name, value):
        setattr(self, name, value)

    def said(self):
        buffers = [self.norm.running_mean, self.norm.running_var, self.average, self.gradients]
        return [t.detach().tolist() for t in [*self.losses, *self.parameters, *buffers]] + [torch.rand(2).tolist()]


STEPS = len(list(Training().steps(None, None)))


def disturbed(before_step, divergences=0):
    """A program for each step: `before_step(training)` is called before that one, in some iterations. It may return what
    is to be said, raise, or return a function that is called once the iteration has ended."""
    if os.environ["TERRA_RUNNER"] == "turns":
        divergences = 0  # the frame tier may have the loop in these iterations

    def program(at):
        training, said = Training(), []
        for iteration in range(ITERATIONS):
            x, y = torch.randn(6, 5), torch.randint(3, (6,))
            ends = None
            try:
                for number, step in enumerate(training.steps(x, y)):
                    if number == at and iteration in DISTURBED:
                        answer = before_step(training)
                        if callable(answer):
                            ends = answer
                        else:
                            said.append(answer)
                    step()
            except ValueError as error:
                said.append(str(error))
            if ends:
                ends()
        return said + training.said()

    for at in range(STEPS):
        compare(lambda: program(at), divergences=divergences)


def another_way():
    disturbed(lambda training: torch.outer(training.parameters[1], training.parameters[1]).sum().add(1).tolist(), 1)


def another_way_unseen():
    def more(training):
        training.average = training.average + training.last.weight.detach().abs().sqrt()

    disturbed(more, 1)


def an_exception():
    def fails(training):
        raise ValueError("in the middle")

    disturbed(fails)


def an_op_that_fails():
    def fails(training):
        try:
            torch.ones(2, 3) @ torch.ones(2, 3)
        except RuntimeError as error:
            raise ValueError(str(error)) from None

    disturbed(fails)


def a_look():
    def look(training):
        grads = [p.grad.tolist() if p.grad is not None else None for p in training.parameters]
        return [grads, training.h.tolist() if training.h is not None else None, [p.tolist() for p in training.parameters]]

    disturbed(look)


def memory_that_is_shared():
    def write(training):
        training.last.bias.detach().numpy()[0] += 0.25
        return training.last.bias.tolist()

    disturbed(write)


def off_for_the_rest_of_the_iteration():
    def turn_off(training):
        mode = terra.capture.mode("off")
        mode.__enter__()
        return lambda: mode.__exit__(None, None, None)

    disturbed(turn_off)


def a_child_of_the_process():
    def fork(training):
        child = os.fork()
        if child == 0:
            finite = all(p.isfinite().all().item() for p in training.parameters)
            os._exit(7 if finite else 1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    disturbed(fork)


def seeded_again():
    disturbed(lambda training: torch.manual_seed(5) and torch.randn(2).tolist())


run_tests([another_way, another_way_unseen, an_exception, an_op_that_fails, a_look, memory_that_is_shared,
           off_for_the_rest_of_the_iteration, a_child_of_the_process, seeded_again])
