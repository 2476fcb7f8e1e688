# run: --torch --capture=off
# run: --torch
"""Weights as functions of others: weight_norm, spectral_norm, parametrize, prune, functional_call, fused layers."""

import copy
import pathlib
import sys
import warnings

import torch
import torch.nn as nn
import torch.nn.utils.parametrize as parametrize
from torch.nn.utils import parametrizations, prune

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")
items = []
x = torch.arange(1.0, 13.0).view(4, 3).sin()
image = torch.arange(50.0).view(1, 2, 5, 5).cos()


def train(name, module, inputs=x):
    """Three steps: outputs, names, values."""
    optimizer = torch.optim.SGD(module.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = module(inputs).square().mean()
        loss.backward()
        optimizer.step()
    module.eval()
    items.append((name, (loss, module(inputs).sum())))
    for key, value in module.state_dict().items():
        items.append((f"{name} {key}", value))


def made(make, *layers):
    torch.manual_seed(3)
    return make(layers[0]()) if layers else make()


LINEAR, CONV, TRANSPOSED = lambda: nn.Linear(3, 4), lambda: nn.Conv2d(2, 3, 3), lambda: nn.ConvTranspose2d(2, 3, 3)
old, new = nn.utils, parametrizations
for place, label in ((old, "old"), (new, "new")):
    train(f"{label} weight_norm", made(place.weight_norm, LINEAR))
    train(f"{label} weight_norm conv", made(lambda m: place.weight_norm(m, dim=1), CONV), image)
    train(f"{label} weight_norm all", made(lambda m: place.weight_norm(m, dim=None), LINEAR))
    train(f"{label} spectral_norm", made(place.spectral_norm, LINEAR))
    train(f"{label} spectral_norm conv", made(lambda m: place.spectral_norm(m, n_power_iterations=2), TRANSPOSED), image)

m = made(old.weight_norm, LINEAR)
before = m(x)
old.remove_weight_norm(m)
items.append(("removed", (list(m.state_dict()), (m(x) - before).abs().max() < 1e-6)))
m = made(old.spectral_norm, LINEAR)
old.remove_spectral_norm(m)
items.append(("removed spectral", (list(m.state_dict()), m(x).sum())))


class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).transpose(-1, -2)


class Exp(nn.Module):
    def forward(self, w):
        return w.exp()

    def right_inverse(self, w):
        return w.log()


class Halves(nn.Module):
    def forward(self, a, b):
        return a * b

    def right_inverse(self, w):
        return w, torch.ones_like(w)


def square():
    return nn.Linear(3, 3)


def chained(m):
    parametrize.register_parametrization(m, "weight", Symmetric())
    parametrize.register_parametrization(m, "bias", Halves())
    return m


m = made(chained, square)
items.append(("is", (parametrize.is_parametrized(m), parametrize.is_parametrized(m, "bias"), type(m).__name__, isinstance(m, nn.Linear))))
train("parametrized", m)
with parametrize.cached():
    items.append(("cached", m.weight is m.weight))
twin = copy.deepcopy(m)
same = m(x).detach()
items.append(("copied", (torch.equal(twin(x), m(x)), twin.weight is not m.weight)))
parametrize.remove_parametrizations(m, "weight")
parametrize.remove_parametrizations(m, "bias")
items.append(("plain", (type(m).__name__, list(m.state_dict()), torch.allclose(m(x), same))))
m = made(square)
with torch.no_grad():
    m.weight.abs_().add_(1.0)
parametrize.register_parametrization(m, "weight", Exp())
m.weight = torch.full((3, 3), 2.0)
items.append(("assigned", (m.weight, m.parametrizations.weight.original)))

for name, cut in {
    "l1": lambda m: prune.l1_unstructured(m, "weight", 0.3), "random": lambda m: prune.random_unstructured(m, "weight", 5),
    "ln": lambda m: prune.ln_structured(m, "weight", 1, n=2, dim=0), "random structured": lambda m: prune.random_structured(m, "weight", 2, dim=1),
    "twice": lambda m: prune.l1_unstructured(prune.ln_structured(m, "weight", 0.25, n=1, dim=0), "weight", 0.5),
    "custom": lambda m: prune.custom_from_mask(m, "bias", torch.tensor([1, 0, 1, 0])),
}.items():  # fmt: skip
    m = made(cut, LINEAR)
    train(f"prune {name}", m)
    items.append((f"pruned {name}", (prune.is_pruned(m), m.bias.sum())))
    prune.remove(m, "bias" if name == "custom" else "weight")
    items.append((f"kept {name}", (prune.is_pruned(m), list(m.state_dict()), m(x).sum())))
m = made(lambda: nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2)))
prune.global_unstructured([(m[0], "weight"), (m[1], "weight")], prune.L1Unstructured, amount=0.4)
items.append(("global", (m[0].weight_mask, m[1].weight_mask)))

m = made(LINEAR)
other = {"weight": torch.ones(4, 3), "bias": torch.zeros(4)}
items.append(("call", torch.func.functional_call(m, other, (x,))))
items.append(("call one", torch.nn.utils.stateless.functional_call(m, {"bias": other["bias"]}, x)))
conv, bn = made(lambda: nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3)))
bn(conv(image))
conv.eval(), bn.eval()
items.append(("fused", (nn.utils.fuse_conv_bn_eval(conv, bn)(image) - bn(conv(image))).abs().max() < 1e-5))


def error(run):
    try:
        run()
    except Exception as e:
        return f"{type(e).__name__}: {str(e)[:50]}"


items.append(("no weight norm", error(lambda: old.remove_weight_norm(nn.Linear(1, 1)))))
items.append(("twice", error(lambda: old.weight_norm(old.weight_norm(nn.Linear(1, 1))))))
items.append(("no tensor", error(lambda: parametrize.register_parametrization(nn.Linear(1, 1), "nothing", Exp()))))
items.append(("no key", error(lambda: torch.func.functional_call(m, {"nothing": x}, x, strict=True))))
items.append(("amount", error(lambda: prune.l1_unstructured(nn.Linear(1, 1), "weight", 1.5))))
check(items, __file__)
