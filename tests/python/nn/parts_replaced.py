# run: --torch
# run: --torch --capture=off
"""Tensors that take each other's place, parameters that conversions replace, parametrizations behind others, hooks of all
modules, names with prefixes, calls with other tensors than a module's own."""

import pathlib
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call
from torch.nn.modules.module import register_module_forward_hook
from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present
from torch.nn.utils import parametrize, stateless

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

items = []


def told(name, function):
    try:
        items.append((name, function()))
    except (RuntimeError, ValueError, TypeError, AttributeError, KeyError) as error:
        items.append((name, f"{type(error).__name__} {error}"))


# ---- tensors that swap ----
a, b = torch.arange(2.0), torch.zeros(3, dtype=torch.int64)
b.label = "b"
torch.utils.swap_tensors(a, b)
items.append(("swapped", [a, b, a.label, hasattr(b, "label")]))
p, q = nn.Parameter(torch.ones(2)), torch.zeros(3)
p.grad = torch.full((2,), 5.0)
held = p
torch.utils.swap_tensors(p, q)
items.append(("a parameter and a tensor", [p is held, type(p).__name__, type(q).__name__, p, q, p.grad, q.grad, p.requires_grad, q.requires_grad]))
layer = nn.Linear(1, 2, bias=False)
for step in range(16):
    with torch.no_grad():
        layer.weight.fill_(step)
    if step == 14:
        torch.utils.swap_tensors(layer.weight, nn.Parameter(torch.tensor([[7.0], [8.0]])))
    y = layer(torch.ones(1, 1))
items.append(("in a layer", y))

# ---- conversions ----
future = torch.__future__
items.append(("settings", [future.get_overwrite_module_params_on_conversion(), future.get_swap_module_params_on_conversion()]))
layer = nn.Linear(2, 2)
for overwrite, swap in ((False, False), (True, False), (True, True)):
    future.set_overwrite_module_params_on_conversion(overwrite)
    future.set_swap_module_params_on_conversion(swap)
    before = layer.weight
    items.append((f"kept, {overwrite} {swap}", [layer.to(torch.float64).weight is before, layer.weight.dtype]))
    layer.float()
future.set_overwrite_module_params_on_conversion(False)
future.set_swap_module_params_on_conversion(False)
items.append(("home", nn.Parameter.__module__))


# ---- parametrizations behind others ----
class Skew(nn.Module):
    def forward(self, x):
        return x.triu(1) - x.triu(1).mT

    def right_inverse(self, x):
        return x.triu(1)


class Cayley(nn.Module):
    def forward(self, x):
        return torch.linalg.solve(torch.eye(3) - x, torch.eye(3) + x)

    def right_inverse(self, x):
        return torch.linalg.solve(x + torch.eye(3), x - torch.eye(3))


class As(nn.Module):
    def __init__(self, change, back=None):
        super().__init__()
        self.change = change
        if back is not None:
            self.right_inverse = back

    def forward(self, x):
        return self.change(x)


torch.manual_seed(0)
m = nn.Linear(3, 3)
parametrize.register_parametrization(m, "weight", Skew())
parametrize.register_parametrization(m, "weight", Cayley())
items.append(("two", [m.parametrizations.weight.original, m.weight]))
m.weight = torch.eye(3)
items.append(("set", [m.parametrizations.weight.original, m.weight]))
for name, part in (
    ("no tensor", As(lambda x: [x])), ("shape", As(lambda x: x[0])), ("dtype", As(lambda x: x.double())),
    ("back to none", As(lambda x: x, lambda x: [x])), ("back to a shape", As(lambda x: x, lambda x: x[0])),
    ("back to a dtype", As(lambda x: x, lambda x: x.double())),
):  # fmt: skip
    told(name, lambda: parametrize.register_parametrization(m, "weight", part))
told("unsafe", lambda: list(parametrize.register_parametrization(m, "weight", As(lambda x: x[0]), unsafe=True).weight.shape))
items.append(("stays unsafe", m.parametrizations.weight.unsafe))

# ---- hooks of all modules ----
seen = []


class Scaled(nn.Module):
    def forward(self, x, by=1):
        if by == 0:
            raise ValueError("by nothing")
        return x * by


with register_module_forward_hook(lambda m, args, kwargs, out: seen.append((args, sorted(kwargs.items()), out)), with_kwargs=True):
    Scaled()(torch.ones(1), by=3)
Scaled()(torch.ones(1), by=4)
with register_module_forward_hook(lambda m, args, out: seen.append(out), always_call=True):
    told("raises", lambda: Scaled()(torch.ones(1), by=0))
items.append(("seen", seen))

# ---- prefixes, results in pairs ----
state = nn.DataParallel(nn.Sequential(nn.Linear(1, 1))).state_dict()
consume_prefix_in_state_dict_if_present(state, "module.")
items.append(("prefixes", [list(state), sorted(state._metadata)]))
pairs = [
    F.max_pool2d(torch.ones(1, 1, 2, 2), 2, return_indices=True), nn.MaxPool3d(2, return_indices=True)(torch.ones(1, 1, 2, 2, 2)),
    F.adaptive_max_pool2d(torch.ones(1, 1, 2, 2), 1, return_indices=True), nn.AdaptiveMaxPool3d(1, True)(torch.ones(1, 1, 2, 2, 2)),
]  # fmt: skip
items.append(("pairs", [(type(pair).__name__, pair) for pair in pairs]))



# ---- calls with other tensors ----
class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = torch.full((1,), 2.0)  # no parameter and no buffer
        self.line = nn.Linear(1, 1, bias=False)
        nn.init.ones_(self.line.weight)

    def forward(self, x):
        return self.line(x) * self.factor + getattr(self, "more", 0)


m, one = Linear(), torch.ones(1, 1)
for name in ("factor", "more", "line.bias", "unused", "line.unused"):
    for i in range(16):
        y = functional_call(m, {name: torch.tensor([float(i)])}, one)
    items.append((f"with {name}", [y, m(one), hasattr(m, "more"), m.line.bias, hasattr(m, "unused")]))
gradients = torch.func.grad(lambda tensors: functional_call(m, tensors, one).sum())({"factor": torch.ones(1), "line.weight": one})
items.append(("gradients", [gradients["factor"], gradients["line.weight"]]))
for name, value in (("5.weight", one), ("line.weight.x", one), ("line.weight", 3), ("line", one), ("", one)):
    told(f"with {name!r}", lambda: functional_call(m, {name: value}, one))
    told(f"with {name!r}, strict", lambda: functional_call(m, {name: value}, one, strict=True))


# ---- buffers that the call replaces ----
class Counting(nn.Module):
    """Puts another buffer in the place of its own with each call."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        self.calls = self.calls + 1
        return x * self.scale + self.calls


m = Counting()
given = {"calls": torch.ones(1), "scale": torch.full((1,), 2.0)}
told("a buffer that is replaced", lambda: [functional_call(m, given, one), given["calls"], given["scale"], m.calls])
told("again", lambda: [functional_call(m, given, one), given["calls"], m.calls])
parts = {"calls": torch.ones(1)}, {"scale": torch.full((1,), 2.0)}
told("in two parts", lambda: [functional_call(m, parts, one), parts[0]["calls"], m.calls])
with stateless._reparametrize_module(m, given):
    told("inside", lambda: [m(one), m.calls])
told("after", lambda: [given["calls"], m.calls])

check(items, __file__)
