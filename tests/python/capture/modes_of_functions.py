# run: --torch TERRA_EXACT=1
"""Functions in Python that __torch_function__ may take over are captured like others; a call that a mode sees is neither served
nor recorded, and afterwards the graph fits again."""

import torch
import torch.nn.functional as F
from torch.overrides import BaseTorchFunctionMode, TorchFunctionMode

import terra.capture

x, target = torch.randn(4, 8), torch.tensor([1, 0, 3, 2])


def step(x):
    y = F.dropout(F.silu(F.relu6(x) + torch.tensor(1.0)), 0.5, False)
    y = F.normalize(F.softmax(F.layer_norm(y, (8,)), dim=-1)) + torch.nn.init.constant_(torch.empty(8), 2.0)
    return F.cross_entropy(y, target) + F.mse_loss(y, x) + torch.einsum("ij,ij->", y, y) + torch.atleast_2d(y).sum()


activation = F.leaky_relu


def of_a_value(x):
    return activation(x).sum() + max(map(F.celu, [x, x]), key=lambda y: y.sum().item()).sum()


class Doubled(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result * 2 if func is F.mse_loss else result


def counts(function):
    """(recordings of step, calls of it that were served) of what the function does."""

    def now():
        (frame,) = (frame for frame in terra.capture.stats()["frames"] if frame["name"] == "step")
        return len(frame["entries"]), sum(entry["hits"] for entry in frame["entries"])

    before = now()
    function()
    return [b - a for a, b in zip(before, now())]


plain = step(x)
terra.capture.explain(step, x)
assert counts(lambda: [step(x) for _ in range(10)]) == [0, 10], terra.capture.explain(step)
for mode in (BaseTorchFunctionMode(), Doubled()):
    found = []

    def watched():
        with mode:
            found.extend(step(x) for _ in range(10))

    assert counts(watched) == [0, 0]
    assert counts(lambda: found.extend(step(x) for _ in range(10))) == [0, 10]
    within, behind = found[:10], found[10:]
    assert all(value.equal(plain) for value in behind)
    assert all(value.equal(within[0]) for value in within) and within[0].equal(plain) == (type(mode) is BaseTorchFunctionMode)

value = of_a_value(x)
for _ in range(20):
    assert of_a_value(x).equal(value)
    with Doubled():
        assert of_a_value(x).equal(value)
assert "captured" in terra.capture.explain(F.softmax, x, dim=0) and terra.capture.graphs(F.softmax)


# a subclass in place of a tensor, and functions that are switched off for it
class Named(torch.Tensor):
    pass


for i in range(30):
    named = x.as_subclass(Named)
    assert type(step(named)) is Named and type(step(x)) is torch.Tensor
    with torch._C.DisableTorchFunctionSubclass():
        assert type(step(named)) is torch.Tensor


# a mode that is entered and left inside
def inside(x, mode):
    a = F.silu(x)
    with mode:
        b = F.mse_loss(a, x)
    return b + F.mse_loss(a, x)


once = F.mse_loss(F.silu(x), x)
for i in range(30):
    assert inside(x, BaseTorchFunctionMode()).equal(once + once) and inside(x, Doubled()).equal(once * 2 + once)


# functions that other C code calls, and methods in Python
def handed_on(x):
    return sum(map(F.hardswish, [x, x])).sum() + x.nan_to_num().sum(), x.allclose(x)


assert "where CPython goes on" not in terra.capture.explain(handed_on, x)
