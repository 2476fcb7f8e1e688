"""A list whose length is another one in each call is not recorded for each of them: its items are taken outside the graph."""
import terra
import _terra_C as C

C.capture_thrift(False)  # times of calls decide nothing


def f(rows):
    return (terra.cat(rows) * 2).sum() + 1


def told():
    return terra.capture.stats()["recordings"]


for n in range(1, 60):
    assert f([terra.full((1, 3), 2.0)] * n).item() == 12 * n + 1, n
few = told()
assert few <= 10, few
replays = terra.capture.stats()["replays"]
for n in range(60, 90):
    assert f([terra.ones(1, 3)] * n).item() == 6 * n + 1, n
assert told() <= few + 1
assert terra.capture.stats()["replays"] >= replays + 30, "the part before the list is served, and often the rest"


def g(pair):  # few lengths: each has its graph
    return terra.stack(pair).sum() * 3


recordings = told()
for i in range(40):
    pair = [terra.ones(2)] * (2 + i % 2)
    assert g(pair).item() == 6.0 * len(pair)
assert told() <= recordings + 4
