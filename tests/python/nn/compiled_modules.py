# run: --torch
# run: --torch --capture=off
# run: --torch --capture=coexec TERRA_RUNNER=turns
# run: --torch --capture=verify
"""torch.compile of modules: a module around the one given, whose attributes it shows and sets, and under whose name its
parameters stand."""

import copy
import io
import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 3), nn.Linear(3, 1)
        self.scale = 0.5
        self.register_buffer("buf", torch.ones(1))

    def forward(self, x):
        return self.b(torch.tanh(self.a(x))) * self.scale

    def helper(self):
        return self.scale + 1


def told(action):
    try:
        return action()
    except Exception as error:
        return f"{type(error).__name__} {str(error)[:60]}"


def items():
    module, x = Net(), torch.ones(4, 2)
    compiled = torch.compile(module, backend="eager")
    yield "repr", repr(compiled)
    yield "kinds", (type(compiled).__name__, isinstance(compiled, nn.Module), isinstance(compiled, Net), compiled is module)
    yield "state", list(compiled.state_dict())
    yield "names", ([n for n, _ in compiled.named_parameters()], [n for n, _ in compiled.named_modules()])
    yield "shown", (compiled._orig_mod is module, compiled.scale, compiled.helper(), repr(compiled.a))
    compiled.scale, compiled.new = 0.25, 5
    yield "set", (module.scale, module.new, "new" in vars(compiled))
    del compiled.new
    yield "deleted", hasattr(module, "new")
    yield "absent", told(lambda: compiled.nothing)
    modes = []
    for change in (compiled.eval, compiled.train, module.eval, module.train):
        change()
        modes.append((module.training, compiled.training))
    yield "modes", modes
    yield "result", compiled(x)
    yield "loading", told(lambda: Net().load_state_dict(compiled.state_dict()))
    bare = {name.removeprefix("_orig_mod."): value for name, value in compiled.state_dict().items()}
    yield "loaded", repr(Net().load_state_dict(bare))
    optimizer = torch.optim.SGD(compiled.parameters(), lr=0.1)
    losses = []
    for _ in range(16):
        optimizer.zero_grad()
        loss = compiled(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    yield "trained", losses
    twin = copy.deepcopy(compiled)
    yield "twin", (type(twin).__name__, twin._orig_mod is module, torch.equal(twin(x), compiled(x)))
    seen = []
    hook = lambda m, *_: seen.append(type(m).__name__)  # noqa: E731
    handles = [compiled.register_forward_hook(hook), module.register_forward_hook(hook)]
    compiled(x)
    yield "hooked", seen
    for handle in handles:
        handle.remove()
    sequence = torch.compile(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), backend="eager")
    yield "length", (len(sequence), told(lambda: sequence[0]), told(lambda: len(compiled)))
    yield "listed", [name in dir(compiled) for name in ("a", "scale", "_orig_mod", "training", "nothing")]
    yield "moved", (compiled.to(torch.float64) is compiled, module.a.weight.dtype)
    file = io.BytesIO()
    torch.save(compiled.state_dict(), file)
    file.seek(0)
    yield "saved", list(torch.load(file))
    decorated = torch.compile(backend="eager")(lambda t: t * 2)
    yield "function", (torch.compile(lambda t: t + 1, backend="eager")(torch.ones(1)), decorated(torch.ones(1)))


check(items(), __file__)
