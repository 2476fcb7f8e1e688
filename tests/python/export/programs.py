# run: --torch
"""torch.export: a program gives what the module gives, made here and read from a file, and keeps what it writes."""

import copy
import io
import pickle

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(3)
passed = 0


def copied(exported):
    file = io.BytesIO()
    torch.export.save(exported, file)
    file.seek(0)
    return torch.export.load(file)


def leaves(tree):
    return torch.utils._pytree.tree_leaves(tree)


def same(ours, theirs, what):
    assert type(ours) is type(theirs), what
    assert not isinstance(ours, dict) or ours.keys() == theirs.keys(), what
    for one, other in zip(leaves(ours), leaves(theirs), strict=True):
        if isinstance(one, torch.Tensor):
            assert one.dtype == other.dtype and one.shape == other.shape and one.stride() == other.stride(), what
            assert torch.equal(one, other) or (one.isnan() == other.isnan()).all(), (what, one, other)
        else:
            assert one == other, what


def state_of(function):
    return {k: v.clone() for k, v in function.state_dict().items()} if isinstance(function, nn.Module) else {}


def agrees(what, function, *args, **kwargs):
    """Runs of the program, of what is read back from its file, and of the function itself, from the same state."""
    global passed
    start = state_of(function)
    exported = torch.export.export(function, args, kwargs)
    assert str(copied(exported)) == str(exported), what
    if start:
        function.load_state_dict(start)
    loaded = copied(exported).module()
    results, states = [], []
    for run in (exported.module(), loaded, function):
        if start:
            function.load_state_dict(start)
        torch.manual_seed(5)
        with torch.no_grad():
            given = copy.deepcopy(args)
            results.append([run(*given, **kwargs) for _ in range(2)])
        states.append(state_of(run))
    for made, state in zip(results[:2], states):
        same(made, results[2], what)
        same(state, states[2], what)
    passed += 1


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 3, 3, padding=1)
        self.norm = nn.BatchNorm2d(3)

    def forward(self, x):
        return {"out": (x + F.relu(self.norm(self.convolution(x))),), "none": None, "n": 3, "nan": "text"}


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("hidden", torch.zeros(3), persistent=False)
        self.table = torch.arange(12.0).view(3, 4)

    def forward(self, x, *, scale=2.0):
        self.count += 1
        self.hidden[1:] += x.sum(0)[:2]
        return self.table.t() @ x * scale, self.hidden, [self.hidden.view(3, 1), x], self.count + 0


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        return self.head(self.embedding(tokens)).log_softmax(-1)


def mutates(x, y):
    x[0] = y[1]
    x.mul_(2)
    return x, y[:, 1:], torch.cat([x, y]), x.dtype.itemsize


def creates(x):
    made = torch.tensor([[1, 2], [3, 4]], dtype=x.dtype)
    made[0] *= x[0, 0]
    return made, torch.full_like(x, -0.0), torch.arange(3), torch.zeros(0, 2), 1e-320 * x, x * float("inf"), x.data


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return g


agrees("residual", Residual().eval(), torch.randn(2, 3, 5, 5))
agrees("residual in training", Residual().train(), torch.randn(2, 3, 5, 5))
agrees("channels last", Residual().to(memory_format=torch.channels_last), torch.randn(2, 3, 5, 5).to(memory_format=torch.channels_last))
agrees("counter", Counter(), torch.randn(3, 3), scale=3.0)
agrees("counter again", Counter(), torch.randn(3, 2))
agrees("tied", Tied(), torch.tensor([[1, 5], [0, 6]]))
agrees("lstm", nn.LSTM(3, 4, num_layers=2, bidirectional=True), torch.randn(5, 2, 3))
agrees("gru with a state", nn.GRU(3, 4), torch.randn(5, 2, 3), torch.randn(1, 2, 4))
agrees("transformer", nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(), torch.randn(2, 5, 8))
agrees("dropout", nn.Sequential(nn.Linear(4, 4), nn.Dropout()), torch.randn(3, 4))
agrees("normal draws", lambda x: x + torch.randn(3) + torch.rand_like(x), torch.randn(2, 3))
agrees("writes to arguments", mutates, torch.randn(3, 3), torch.randn(3, 3))
agrees("new tensors", creates, torch.randn(2, 2))
agrees("containers", lambda d, *rest: [d["a"][0] + rest[1], d["b"]], {"a": (torch.ones(2), 1), "b": "t"}, None, torch.ones(2))
agrees("a tensor twice", lambda x, y: (x + y, x), *[torch.ones(2)] * 2)
agrees("dtypes", lambda x: [x.to(t) for t in (torch.bool, torch.int8, torch.float16, torch.bfloat16, torch.complex64)], torch.randn(3))
agrees("half", lambda x: (x @ x.t() + 1).softmax(-1), torch.randn(3, 3).half())
agrees("complex", lambda x: torch.fft.rfft(x).abs(), torch.randn(8))
agrees("a function of autograd", lambda x: Square.apply(x) + 1, torch.randn(3))
agrees("strides", lambda x: (x.t(), x[::2, 1:], x.expand(2, 3, 4)[1]), torch.randn(3, 4))
agrees("argument that lies otherwise", lambda x: x * 2, torch.randn(4, 3).t())
agrees("view of a memory", lambda x: x + 1, torch.randn(10)[3:7])
agrees("loops of Python", lambda xs: sum(x.sin() * i for i, x in enumerate(xs) if i % 2), [torch.randn(2) for _ in range(5)])
agrees("autocast", torch.autocast("cpu", torch.bfloat16)(lambda x: x @ x), torch.randn(3, 3))
agrees("linear algebra", lambda x: torch.linalg.inv(x @ x.t() + torch.eye(3)), torch.randn(3, 3))
agrees("nothing", lambda: ())

# What is written is the argument's own memory, as it is in Python.
exported = torch.export.export(mutates, (torch.zeros(3, 3), torch.zeros(3, 3))).module()
one, other, y = torch.ones(3, 3), torch.ones(3, 3), torch.randn(3, 3)
assert exported(one, y)[0] is one
mutates(other, y)
assert torch.equal(one, other) and one._version == other._version

# State: the program reads what its module has, and a module that is read back has the same names.
counter = Counter()
torch.manual_seed(1)
program = torch.export.export(counter, (torch.ones(3, 3),))
torch.export.export(nn.Dropout(), (torch.ones(3),))
assert counter.count == 0 and not counter.hidden.any()  # as it was
assert torch.rand(1) == torch.rand(1, generator=torch.Generator().manual_seed(1))
assert program.state_dict.keys() == {"count"} and program.constants.keys() == {"hidden"}
module = copied(program).module()
assert module.state_dict().keys() == counter.state_dict().keys()
module.load_state_dict({"count": torch.tensor(41)})
assert module(torch.ones(3, 3))[3] == 42 and module.count == 42
linear = torch.export.export(nn.Linear(2, 2), (torch.ones(1, 2),))
names = [name for name, _ in copied(linear).module().named_parameters()]
assert names == ["weight", "bias"] == [name for name, _ in linear.named_parameters()]

# Copies have a state of their own; what is no change is allowed.
twin = copy.deepcopy(module.to("cpu").float())
assert type(twin) is type(module) and twin(torch.ones(3, 3))[3] == 43 and module.count == 42
assert pickle.loads(pickle.dumps(program)).module()(torch.ones(3, 3))[3] == 1 and counter.count == 0

print(f"{passed + 4} passed")
