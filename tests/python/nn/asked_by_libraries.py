# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
"""What libraries ask modules: members through a __getattr__ of their own, signatures, convolutions with other kernels; and the
names of types."""

import inspect
import pathlib
import pickle
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

results = []


class Watched(nn.Module):
    """Counts each parameter, buffer and submodule that is asked for, as Pyro's modules do; makes attributes up."""

    def __init__(self):
        super().__init__()
        self.seen = []
        self.w = nn.Parameter(torch.tensor([1.0, 2.0]))
        self.inner = nn.Linear(2, 2)
        self.register_buffer("b", torch.tensor([0.5]))
        nn.init.constant_(self.inner.weight, 0.25)
        nn.init.constant_(self.inner.bias, 0.1)

    def __getattr__(self, name):
        if "seen" in self.__dict__:
            self.seen.append(name)
        if name.startswith("made_"):
            return name[5:]
        return super().__getattr__(name)

    def forward(self, x):
        return self.inner(x * self.w) + self.b


watched = Watched()
for _ in range(6):
    y = watched(torch.ones(1, 2))
    y.sum().backward()
results.append(("seen", [watched.seen.count(name) for name in ("w", "inner", "b")]))
results.append(("value", [y, watched.w.grad, watched.made_up]))
try:
    watched.nothing
except AttributeError as error:
    results.append(("nothing", str(error)))


class Around(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.module, name)

    def forward(self, x):
        return self.module(x)


around = Around(nn.Linear(3, 2))
results.append(("around", [around.in_features, around.weight is around.module.weight, around(torch.zeros(1, 3)).shape]))


class Bare(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(torch.ones(1))

    def __getattribute__(self, name):
        return super().__getattribute__(name)


results.append(("own __getattribute__", Bare().p))
results.append(("signatures", [str(inspect.signature(around)), str(inspect.signature(around.forward)), "in_features" in inspect.signature(nn.Linear).parameters]))

class Standardized(nn.Conv2d):
    """Weight standardization, as public code has it."""

    def forward(self, x):
        weight = self.weight - self.weight.mean((1, 2, 3), keepdim=True)
        return self._conv_forward(x, weight / (weight.std((1, 2, 3), keepdim=True) + 1e-5), self.bias)


conv = Standardized(2, 3, 3, padding=1, padding_mode="circular")
with torch.no_grad():
    conv.weight.copy_(torch.arange(54.0).view(3, 2, 3, 3).sin())
    conv.bias.zero_()
results.append(("standardized", conv(torch.arange(32.0).view(1, 2, 4, 4) / 10)))
for kind, shape in ((nn.Conv1d, (1, 1, 5)), (nn.Conv3d, (1, 1, 4, 4, 4))):
    conv = kind(1, 1, 3)
    results.append((kind.__name__, conv._conv_forward(torch.ones(shape), torch.ones_like(conv.weight), None)))

results.append(("types", [str(torch.Tensor), torch.Size.__module__, type(torch.ones(1)).__module__, torch.device.__module__, type(torch.float32).__module__]))
results.append(("pickled", pickle.loads(pickle.dumps(torch.Tensor)) is torch.Tensor))
results.append(("sizes as tensors", F.interpolate(torch.ones(1, 1, 2, 2), size=[torch.tensor([3]), torch.tensor(4)], mode="bilinear").shape))
x = torch.ones(2)
results.append(("_cdata", [x._cdata == x._cdata, x._cdata == torch.ones(2)._cdata]))
check(results, __file__)
