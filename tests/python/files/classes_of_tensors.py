# run: --torch
# run: --torch --capture=off
"""Tensors of subclasses, and tensors with attributes, in files: what comes back is of the same class and has them."""

import io
import pathlib
import pickle
import sys
import warnings

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")


class Plain(torch.Tensor):
    pass


class Tagged(torch.Tensor):
    def __new__(cls, data, tag):
        return torch.Tensor._make_subclass(cls, data)

    def __init__(self, data, tag):
        self.tag = tag


class Slotted(torch.Tensor):
    __slots__ = ("unit",)


class SaysHow(torch.Tensor):
    def __reduce_ex__(self, proto):
        return str, ("said",)


class SetsState(torch.Tensor):
    def __setstate__(self, state):
        self.seen = state


class OwnParameter(nn.Parameter):
    pass


class WithBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.buffer = nn.Buffer(torch.ones(2), persistent=False)
        self.weight = nn.Parameter(torch.ones(1))
        self.weight.rate = 0.5


def through(value, **how):
    file = io.BytesIO()
    torch.save(value, file, **{k: v for k, v in how.items() if k.startswith("_")})
    file.seek(0)
    try:
        return torch.load(file, **{k: v for k, v in how.items() if not k.startswith("_")})
    except Exception as error:
        return f"{type(error).__name__} {str(error)[:25]}"


def seen(value):
    if not isinstance(value, torch.Tensor):
        return value
    values = None if value.is_sparse else value.detach().tolist()
    return type(value).__name__, values, value.requires_grad, {**value.__dict__}


def marked(tensor, **attributes):
    for name, value in attributes.items():
        setattr(tensor, name, value)
    return tensor


def items():
    anything = {"weights_only": False}
    yield "subclass", seen(through(Plain([1.0, 2.0]), **anything))
    yield "subclass, safely", seen(through(Plain([1.0, 2.0])))
    with torch.serialization.safe_globals([Plain]):
        yield "subclass, allowed", seen(through(Plain([1.0, 2.0])))
    yield "legacy", seen(through(Plain([1.0, 2.0]), _use_new_zipfile_serialization=False, **anything))
    tagged = Tagged(torch.arange(3.0), "t")
    pair = through([tagged, tagged[1:], tagged], **anything)
    yield "attributes", [seen(t) for t in pair]
    yield "one memory", (pair[0].data_ptr() == pair[2].data_ptr(), pair[0].data_ptr() + 4 == pair[1].data_ptr())
    slotted = through(marked(Slotted([1.0]), unit="m"), **anything)
    yield "slots", getattr(slotted, "unit", slotted)
    yield "own way", seen(through(SaysHow([1.0]), **anything))
    yield "own state", through(marked(SetsState([1.0]), k=3), **anything).seen
    yield "own parameter", seen(through(OwnParameter(torch.ones(1)), **anything))
    yield "plain with attributes", seen(through(marked(torch.ones(2), tag="a", numbers=[1, 2])))
    yield "leaf with attributes", seen(through(marked(torch.ones(2, requires_grad=True), tag="a")))
    yield "parameter with attributes", seen(through(marked(nn.Parameter(torch.ones(2)), note={"a": 1})))
    yield "sparse", through(torch.eye(2).to_sparse()).to_dense()
    module = through(WithBuffer(), **anything)
    yield "module", (seen(module.buffer), seen(module.weight), list(module.state_dict()))
    yield "state_dict", {k: seen(v) for k, v in through(WithBuffer().state_dict()).items()}
    yield "pickled", [seen(pickle.loads(pickle.dumps(t))) for t in (tagged, marked(nn.Parameter(torch.ones(1)), a=1))]
    with torch.serialization.skip_data():
        file = io.BytesIO()
        torch.save({"x": torch.ones(2, 3), "n": 1}, file)
    file.seek(0)
    yield "without data", torch.load(file)
    with torch.serialization.skip_data():
        try:
            torch.save(torch.ones(1), io.BytesIO(), _use_new_zipfile_serialization=False)
        except RuntimeError as error:
            yield "without data, the old way", str(error)
    yield "of a Parameter", (nn.Parameter.__module__.split(".")[1:], torch.typename(nn.Parameter).split(".")[1:])


check(items(), __file__)
