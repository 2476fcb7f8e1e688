# run: --torch
# run: --torch --capture=stress
"""torch.jit: what script and trace give behaves as the function or module does; files hold its graph."""

import copy
import io
import os
import subprocess
import sys
import tempfile

import torch
from torch import nn


@torch.jit.script
def scaled(x, n: int = 2):
    """says so"""
    return x * n


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.d = nn.Linear(3, 2), nn.Dropout(0.5)
        self.register_buffer("b", torch.ones(2))

    def forward(self, x):
        return self.d(torch.relu(self.l(x))) + self.b

    @torch.jit.export
    def other(self, x):
        return self.b + x

    @torch.jit.ignore
    def third(self):
        return "as it is"


class Branching(nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


def raises(kind, text, function, *args):
    try:
        function(*args)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}")


x = torch.randn(4, 3)
for _ in range(12):
    assert scaled(torch.ones(2)).tolist() == [2, 2] and scaled(torch.ones(1), n=3).item() == 3
assert (scaled.name, scaled.__name__, scaled.__doc__) == ("scaled", "scaled", "says so")
assert isinstance(scaled, torch.jit.ScriptFunction) and scaled.qualified_name == "__main__.scaled"
for text in (scaled.code, scaled.graph, torch.jit.script(Net()).graph):
    assert "Terra compiles no TorchScript" in text and "symbolic_trace" in text

model = Net()
for made in (torch.jit.script(model), torch.jit.trace(model, x), torch.jit.trace_module(model, {"forward": x})):
    assert isinstance(made, torch.jit.ScriptModule) and isinstance(made, Net) and made.original_name == "Net"
    assert list(made.state_dict()) == list(model.state_dict()) and made.third() == "as it is"
    assert all(p is q for p, q in zip(made.parameters(), model.parameters(), strict=True))
    assert torch.equal(made.other(x[:, :2]), x[:, :2] + made.b) and [n for n, _ in made.named_children()] == ["l", "d"]
    made.eval()
    assert torch.equal(made(x), model.eval()(x)) and torch.equal(made.forward(x), made(x))
    assert torch.equal(copy.deepcopy(made)(x), made(x)) and torch.jit.freeze(made) is made
    made.load_state_dict({k: v + 1 for k, v in made.state_dict().items()})
    assert torch.equal(made(x), model(x))
assert torch.jit.script(scaled) is scaled and torch.jit.script(Net) is Net
assert torch.jit.trace(torch.relu, x)(x).equal(x.relu())
made = torch.jit.script(model).train()
optimizer = torch.optim.SGD(made.parameters(), lr=1.0)
before = model.l.weight.clone()
made(x).sum().backward()
optimizer.step()
assert model.l.weight is made.l.weight and not torch.equal(before, model.l.weight)
assert torch.jit.script(Branching())(-torch.ones(2)).tolist() == [1, 1]

# Files.
made.eval()
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "net.pt")
    torch.jit.save(made, path, _extra_files={"about.txt": "words"})
    extra = {"about.txt": "", "missing": "as before"}
    read = torch.jit.load(path, _extra_files=extra)
    assert extra == {"about.txt": b"words", "missing": "as before"}
    assert isinstance(read, torch.jit.ScriptModule) and not read.training and torch.equal(read(x), model.eval()(x))
    assert "relu = torch.relu(l)" in read.code and dict(read.named_parameters()).keys() == {"l.weight", "l.bias"}
    assert read.train().d.training and torch.equal(torch.jit.load(path, "cpu")(x), read.eval()(x))
    torch.save(x, os.path.join(folder, "x.pt"))
    program = f"import torch; m = torch.jit.load({path!r}); print(m(torch.load({folder!r} + '/x.pt')).sum().item())"
    result = subprocess.run([sys.executable, "--torch", "-c", program], capture_output=True, text=True)
    assert abs(float(result.stdout) - read(x).sum().item()) < 1e-4, result.stderr  # without the program's classes
    raises(NotImplementedError, "none that its own torch.jit.save wrote", torch.jit.load, os.path.join(folder, "x.pt"))
traced = torch.jit.trace(lambda a, b: a @ b.t(), (x, x))
buffer = io.BytesIO(traced.save_to_buffer())
assert torch.equal(torch.jit.load(buffer)(x, x), x @ x.t())
raises(NotImplementedError, "flow of control depends on tensors", torch.jit.script(Branching()).save, io.BytesIO())
raises(TypeError, "takes a function or a module", torch.jit.save, 3, io.BytesIO())


class BySizes(nn.Module):
    """No graph of torch.fx, which has no sizes: a trace has those of the examples."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 4)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x, h=None):
        self.calls += 1
        for step in range(len(x)):
            h = self.cell(x[step : step + 1], h)
        return h if x.shape[0] > 2 else -h


raises(NotImplementedError, "flow of control", torch.jit.script(BySizes()).save, io.BytesIO())
by_sizes = BySizes()
buffer = io.BytesIO(torch.jit.trace(by_sizes, x).save_to_buffer({"note": "text"}))
extra = {"note": "", "other": ""}
read = torch.jit.load(buffer, _extra_files=extra).eval()
assert extra == {"note": b"text", "other": ""} and isinstance(read, torch.jit.ScriptModule)
with torch.no_grad():
    assert torch.equal(read(x), by_sizes(x)) and read.calls == by_sizes.calls == 2
assert list(read.state_dict()) == list(by_sizes.state_dict())
raises(ValueError, "was made for float32 [4, 3]", read, x[:2])
buffer.seek(0)
assert torch.equal(torch.export.load(buffer).module()(x), read(x))
raises(NotImplementedError, "flow of control", torch.jit.trace(Branching(), x).save, io.BytesIO())
print("9 passed")
