# run: --torch
"""Modules: registration, traversal, attributes, containers, hooks, state dicts, conversion, copying, errors. Words and
orders are PyTorch's."""

import copy
import io
import pathlib
import pickle
import sys
from collections import OrderedDict

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402


class Block(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o)
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("mean", torch.zeros(o))
        self.register_buffer("hidden", torch.zeros(1), persistent=False)
        self.plain = torch.ones(3)

    def extra_repr(self):
        return "two\nlines"

    def forward(self, x, k=1):
        return self.lin(x) * self.scale + self.mean * k


class Spaced(nn.Module):
    def extra_repr(self):
        return "one\n\n  \ntwo\n"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block(2, 3)
        self.again = self.first
        self.blocks = nn.ModuleList([Block(3, 3), Block(3, 3), nn.ReLU()])
        self.table = nn.ModuleDict({"a": nn.Linear(3, 1, bias=False), "b": nn.Identity()})
        self.free = nn.ParameterList([nn.Parameter(torch.zeros(2)), torch.ones(1, 2)])
        self.named = nn.ParameterDict({"z": torch.ones(1), "a": nn.Parameter(torch.zeros(1))})
        self.nothing = None
        self.register_parameter("absent", None)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.table["a"](x)


def error_of(function):
    try:
        function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def walk():
    torch.manual_seed(0)
    net = Net()
    yield "prints", repr(net)
    yield "parameters", [name for name, _ in net.named_parameters()]
    yield "all names", [name for name, _ in net.named_parameters(remove_duplicate=False)]
    yield "own", [name for name, _ in net.named_parameters(recurse=False)]
    yield "prefix", [name for name, _ in net.named_parameters(prefix="x")][:2]
    yield "buffers", [name for name, _ in net.named_buffers()]
    yield "children", [name for name, _ in net.named_children()]
    yield "modules", [(name, type(m).__name__) for name, m in net.named_modules()]
    yield "state", list(net.state_dict())
    yield "metadata", dict(net.state_dict()._metadata)
    order = []
    net.apply(lambda m: order.append(type(m).__name__))
    yield "apply", order
    yield "get", [net.get_submodule("blocks.0.lin"), net.get_parameter("first.scale"), net.get_buffer("first.mean")]
    yield "dir", [name for name in dir(net) if name in ("first", "absent", "table", "forward", "0")]

    net.first.mean = torch.full((3,), 5.0)
    net.first.scale = None
    yield "set", [net.first._buffers["mean"], net.first._parameters["scale"], "scale" in net.first.__dict__]
    net.first.scale = nn.Parameter(torch.full((1,), 2.0))
    net.extra = nn.Linear(1, 1)
    net.extra = None
    yield "replaced", [list(net._modules), net.extra is None]
    del net.extra
    yield "deleted", list(net._modules)

    yield "train", [net.train(False) is net, [m.training for m in net.modules()][:3], net.eval().train().training]
    x = torch.tensor([[1.0, -1.0]])
    net(x).sum().backward()
    yield "gradients", [p.grad for p in net.first.parameters()]
    net.zero_grad(set_to_none=False)
    yield "zeroed", net.first.lin.weight.grad
    net.zero_grad()
    yield "none", net.first.lin.weight.grad is None
    weight = net.first.lin.weight
    net.double()
    yield "double", [net.first.lin.weight is weight, weight.dtype, net.first.mean.dtype, net(x.double()).dtype]
    net.to(torch.float32).requires_grad_(False)
    yield "float", [weight.dtype, weight.requires_grad, net(x).requires_grad]
    net.requires_grad_(True)

    other = copy.deepcopy(net)
    yield "deepcopy", [other.first is other.again, other.first.lin.weight is not weight, torch.equal(other(x), net(x))]
    pickled = pickle.loads(pickle.dumps(net.table["a"]))
    yield "pickle", [repr(pickled), torch.equal(pickled.weight, net.table["a"].weight)]
    file = io.BytesIO()
    torch.save(net.state_dict(), file)
    file.seek(0)
    fresh = Net()
    yield "load", [repr(fresh.load_state_dict(torch.load(file))), torch.equal(fresh(x), net(x))]

    calls = []
    lin = nn.Linear(2, 2)
    handles = [
        lin.register_forward_pre_hook(lambda m, args: calls.append("pre") or (args[0] * 2,)),
        lin.register_forward_hook(lambda m, args, out: calls.append(("post", args[0].tolist())) or out + 1),
        lin.register_forward_hook(lambda m, args, kwargs, out: calls.append(sorted(kwargs)), with_kwargs=True),
        lin.register_full_backward_hook(lambda m, gi, go: calls.append(("backward", [g.tolist() for g in go]))),
        lin.register_full_backward_pre_hook(lambda m, go: calls.append("before backward")),
    ]
    y = lin(x.clone().requires_grad_())
    y.sum().backward()
    yield "hooks", [calls[:], y - lin.forward(x * 2)]
    for handle in handles:
        handle.remove()
    calls.clear()
    lin(x)
    yield "removed", calls
    with lin.register_forward_hook(lambda m, args, out: out * 0):
        yield "hook as context", lin(x)
    handle = nn.modules.module.register_module_forward_hook(lambda m, args, out: calls.append(type(m).__name__))
    nn.Sequential(lin, nn.ReLU())(x)
    handle.remove()
    lin(x)
    yield "global hook", calls

    seq = nn.Sequential(OrderedDict([("one", nn.Linear(2, 2)), ("two", nn.ReLU())]))
    yield "named", [repr(seq), repr(seq[1:]), repr(seq.two)]
    seq = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    seq.append(nn.Tanh()).insert(1, nn.Sigmoid())
    yield "sequential", [repr(seq), repr(seq[1:3]), repr(seq[-1]), len(seq), [type(m).__name__ for m in seq]]
    del seq[0]
    yield "after del", list(seq._modules)
    seq.extend([nn.ReLU()])
    yield "pop", [repr(seq.pop(0)), list(seq._modules)]
    yield "sum", repr(nn.Sequential(nn.ReLU()) + nn.Sequential(nn.Tanh()))
    blocks = nn.ModuleList([nn.ReLU() for _ in range(3)] + [nn.Tanh()])
    yield "list", [repr(blocks), repr(blocks[1:]), len(blocks + [nn.ReLU()])]
    blocks[1] = nn.Sigmoid()
    blocks.insert(0, nn.Tanh())
    yield "list changed", [repr(blocks), repr(blocks.pop(-1)), len(blocks)]
    table = nn.ModuleDict([["x", nn.ReLU()], ["y", nn.Tanh()]])
    table.update({"z": nn.Sigmoid()})
    yield "blank lines", [repr(nn.Sequential(Spaced())), repr(nn.ModuleList([Spaced(), Spaced(), nn.ReLU()]))]
    yield "dict", [repr(table), list(table), "x" in table, repr(table.pop("x")), [k for k, _ in table.items()]]
    yield "parameter list", [repr(net.free), len(net.free), [tuple(p.shape) for p in net.free]]
    yield "parameter dict", [repr(net.named), list(net.named.keys()), "z" in net.named]

    for name, function in ERRORS.items():
        yield f"error: {name}", error_of(lambda: function(net))


class NoInit(nn.Module):
    def __init__(self):
        self.lin = nn.Linear(1, 1)


class NoInitParameter(nn.Module):
    def __init__(self):
        self.p = nn.Parameter(torch.ones(1))


ERRORS = {
    "unknown": lambda net: net.undefined,
    "no init": lambda net: NoInit(),
    "no init, parameter": lambda net: NoInitParameter(),
    "tensor as parameter": lambda net: setattr(net.first.lin, "weight", torch.ones(1)),
    "number as module": lambda net: setattr(net, "first", 3),
    "number as buffer": lambda net: setattr(net.first, "mean", 3),
    "buffer name taken": lambda net: net.register_buffer("first", torch.ones(1)),
    "dot in name": lambda net: net.register_parameter("a.b", None),
    "empty name": lambda net: net.register_buffer("", None),
    "dot in module": lambda net: net.add_module("a.b", nn.ReLU()),
    "not a module": lambda net: net.add_module("m", 3),
    "not a parameter": lambda net: net.register_parameter("q", torch.ones(1)),
    "non-leaf": lambda net: net.register_parameter("q", nn.Parameter(torch.ones(1)) if False else 3),
    "no submodule": lambda net: net.get_submodule("blocks.9"),
    "not a submodule": lambda net: net.get_submodule("first.plain"),
    "no forward": lambda net: nn.Module()(1),
    "sequential index": lambda net: nn.Sequential(nn.ReLU())[5],
    "list index": lambda net: nn.ModuleList([nn.ReLU()])[5],
    "list call": lambda net: nn.ModuleList([nn.ReLU()])(1),
    "extend": lambda net: nn.ModuleList().extend(3),
    "state": lambda net: nn.Linear(2, 3).load_state_dict({"weight": torch.ones(3, 4), "more": torch.ones(1)}),
    "state type": lambda net: nn.Linear(2, 3).load_state_dict(3),
    "state values": lambda net: nn.Linear(2, 3).load_state_dict({"weight": 1, "bias": 2}),
    "to int": lambda net: net.to(torch.int64),
    "train": lambda net: net.train(3),
    "not strict": lambda net: net.first.load_state_dict({"scale": torch.ones(1), "x": 1}, strict=False),
}

check(list(walk()), __file__)
