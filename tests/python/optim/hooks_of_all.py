# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
"""Hooks on the steps of every optimizer, optimizers as functions, and modules as functions of functorch."""

import os
import sys

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from _oracle import check, wave  # noqa: E402

items = []
log = []


def parameter():
    return nn.Parameter(wave(3).float())


def train(optimizer, p, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        (p * p).sum().backward()
        optimizer.step()
    return p.detach().clone()


old_p, new_p = parameter(), parameter()
old = torch.optim.SGD([old_p], lr=0.1)
train(old, old_p, 14)
before = register_optimizer_step_pre_hook(lambda o, args, kwargs: log.append(("pre", type(o).__name__, args[1:], kwargs)))
after = register_optimizer_step_post_hook(lambda o, args, kwargs: log.append(("post", type(o).__name__)))
own = old.register_step_pre_hook(lambda o, args, kwargs: log.append("own pre"))
own_after = old.register_step_post_hook(lambda o, args, kwargs: log.append("own post"))
new = torch.optim.Adam([new_p])
items.append(("values", [train(old, old_p, 2), train(new, new_p, 1)]))
items.append(("both", list(log)))
before.remove()
own.remove()
log.clear()
train(old, old_p, 1)
items.append(("one left", list(log)))
after.remove()
own_after.remove()
log.clear()
items.append(("none left", [train(old, old_p, 14), train(new, new_p, 14), list(log)]))

# ---- as functions
from torch.optim.adam import adam  # noqa: E402
from torch.optim.adamw import adamw  # noqa: E402
from torch.optim.sgd import sgd  # noqa: E402

for momentum, nesterov in ((0, False), (0.9, False), (0.9, True)):
    p, buffers = wave(4).float(), [None]
    for i in range(14):
        sgd([p], [p * 2 + i], buffers, weight_decay=0.1, momentum=momentum, lr=0.05, dampening=0, nesterov=nesterov, maximize=i == 3)
    items.append((f"sgd {momentum} {nesterov}", [p, buffers[0]]))
for name, function in (("adam", adam), ("adamw", adamw)):
    for amsgrad in (False, True):
        p = wave(4).float()
        average, square, largest, count = ([torch.zeros(4)] for _ in range(4))
        count = [torch.tensor(0.0)]
        for i in range(14):
            function(
                [p], [p * 2 + i], average, square, largest if amsgrad else [], count, amsgrad=amsgrad, beta1=0.9, beta2=0.99, lr=0.05,
                weight_decay=0.1, eps=1e-8, maximize=False,
            )  # fmt: skip
        items.append((f"{name} {amsgrad}", [p, average[0], square[0], count[0]]))

# ---- copies of PyTorch's code
from torch.optim.lbfgs import _strong_wolfe  # noqa: E402
from torch.optim.optimizer import Optimizer, _get_value, _use_grad_for_differentiable, _view_as_real  # noqa: E402


class Copied(Optimizer):
    def __init__(self, params, lr, differentiable=False):
        super().__init__(params, dict(lr=lr, differentiable=differentiable))

    @_use_grad_for_differentiable
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.add_(p.grad, alpha=-_get_value(group["lr"]))
        return torch.is_grad_enabled()


p = parameter()
items.append(("copied", [train(Copied([p], torch.tensor(0.1)), p, 14), Copied([p], 0.1).step(), torch.is_grad_enabled()]))
x = torch.ones(2, dtype=torch.complex64)
lists = [x], [x * 2]
_view_as_real(*lists)
items.append(("as real", [each[0] for each in lists]))


def quadratic(x, t, d):
    point = x + t * d
    return float((point**2).sum()), 2 * point


x = wave(3)
f, g = quadratic(x, 0, x)
items.append(("line", list(_strong_wolfe(quadratic, x, 1.0, -g, f, g, float(g.dot(-g))))))

# ---- functorch
from functorch import combine_state_for_ensemble, make_functional, make_functional_with_buffers, vmap  # noqa: E402

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
function, params = make_functional(net)
x = wave(5, 3).float()
items.append(("functional", [torch.equal(function(params, x), net(x)), [p.requires_grad for p in params], len(list(function.parameters()))]))
for i in range(14):
    gradients = torch.autograd.grad((function(params, x) ** 2).sum(), params)
    params = tuple(p - 0.01 * g for p, g in zip(params, gradients))
items.append(("trained", list(params)))
norm = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
try:
    make_functional(norm)
except RuntimeError as error:
    items.append(("refused", str(error)))
function, params, buffers = make_functional_with_buffers(norm)
items.append(("buffers", [function(params, buffers, x), [b.shape for b in buffers]]))
nets = [nn.Linear(3, 2) for _ in range(3)]
function, params, buffers = combine_state_for_ensemble(nets)
items.append(("ensemble", vmap(function, (0, 0, None))(params, buffers, x)))

check(items, __file__)
