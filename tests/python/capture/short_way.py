"""Calls see that nothing has changed from a few words of memory, and go the whole way through the guards where it has."""
import re

import terra
from terra import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(terra.ones(4), requires_grad=False)

    def forward(self, x):
        return x * self.weight


def seen(function):
    """(calls that went the short way, its words, its instructions), of all entries together."""
    shown = re.findall(r"which (\d+) calls saw from (\d+) words and (\d+) instructions", terra.capture.explain(function))
    return [sum(int(entry[i]) for entry in shown) for i in range(3)]


net = nn.Sequential(*[Scale() for _ in range(10)])
x = terra.ones(4)
for _ in range(60):
    net(x)
passes, words, instructions = seen(net)
assert passes >= 50, terra.capture.explain(net)
assert words >= 30 and instructions <= 8, terra.capture.explain(net)  # only what the argument and the mode decide

net[3].weight = nn.Parameter(terra.ones(4) * 2, requires_grad=False)
for _ in range(20):
    assert net(x).tolist() == [2.0] * 4
assert passes + 15 <= seen(net)[0] < passes + 20, (passes, seen(net))


class Counting:
    def __init__(self):
        self.calls = 0
        self.layers = [Scale() for _ in range(4)]

    def run(self, x):
        self.calls += 1
        for layer in self.layers:
            x = layer(x)
        return x * self.calls


counting = Counting()
for i in range(200):
    assert counting.run(x).tolist() == [i + 1.0] * 4
assert seen(Counting.run)[0] >= 150, terra.capture.explain(Counting.run)  # what changes in every call is read in every call
print("short way: ok")
