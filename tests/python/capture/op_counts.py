"""The report counts an op call of the program once, however it runs: plainly, in a graph, in a rolled loop, put off."""
import os

os.environ["TERRA_EXACT"] = "1"
import terra
import terra.nn.functional as F
import _terra_C as C

x, w = terra.arange(6.0).reshape(2, 3), terra.ones(3, 2)


def plain(n):
    return (x * n + 1).sum()


def of_numbers(n):
    return terra.tensor(float(n)) + x + terra.tensor([n, 2.0 * n]).sum() + terra.tensor([[1.0, 2.0], [3.0, n]]).mean()


def composites(n):
    return F.layer_norm(F.gelu(x @ w), (2,)) + F.one_hot(terra.tensor([n % 2, 1]), 2) * terra.zeros(2)


def written(n):
    y = terra.zeros(4)
    y += n
    y[1:3].mul_(2)
    y[0] = n
    return y.view(2, 2).t()


def rolled(n):
    y = x
    for _ in range(40):
        y = terra.tanh(y + 0.1)
    return y * n


def parted(n):
    y = x * n
    return y.exp() if n % 3 else y.neg().relu()


def with_gradient(n):
    a = (w * n).requires_grad_()
    (x @ a).square().sum().backward()
    return a.grad + 1


def calls_itself(n):
    return terra.tensor(float(n)) if n < 2 else calls_itself(n - 1) + calls_itself(n - 2)


def recursion(n):
    return calls_itself(5 + n % 2) * 2


def counted(f, calls=40):
    before = terra.capture.stats()["ops"]
    for n in range(calls):
        f(n)
    return sum(terra.capture.stats()["ops"].values()) - sum(before.values())


for f in (plain, of_numbers, composites, written, rolled, parted, with_gradient, recursion):
    with terra.capture.mode("off"):
        wanted = counted(f)
    C.capture_thrift(False)
    replays = terra.capture.stats()["replays"]
    assert (got := counted(f)) == wanted, (f.__name__, got, wanted)
    assert terra.capture.stats()["replays"] > replays + 20, f.__name__
print("op counts: ok")
