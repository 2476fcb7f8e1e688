# run: --torch
# run: --torch --capture=off
"""Weights that are used again and again, by few rows each time: what the uses add to the gradient is computed together,
and hooks, errors and what a pass is asked for are as if it weren't."""

import contextlib
import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

items = []
w, v = nn.Linear(64, 48), nn.Linear(48, 64)
for i, p in enumerate((*w.parameters(), *v.parameters())):
    p.data = wave(*p.shape).float() * 0.1 + i * 0.01
parameters = (*w.parameters(), *v.parameters())
x = wave(2, 64).float().requires_grad_()


def net(x, times=300):
    h = x
    for _ in range(times):  # 600 rows
        h = torch.tanh(v(torch.relu(w(h)))) * 0.9 + x * 0.1
    return h


def gradients(backward):
    for p in parameters:
        p.grad = None
    backward()
    return [None if p.grad is None else [p.grad.norm(), p.grad.flatten()[5]] for p in parameters]


items.append(("all", gradients(lambda: net(x).sum().backward())))
items.append(("few uses", gradients(lambda: net(x, 3).sum().backward())))
items.append(("one weight", [g.norm() for g in torch.autograd.grad(net(x).sum(), [w.weight])]))
items.append(("some", [g.norm() for g in torch.autograd.grad(net(x).sum(), [v.bias, x, w.weight])]))
items.append(("the input alone", [g.norm() for g in torch.autograd.grad(net(x).sum(), [x])]))
items.append(("backward of some", gradients(lambda: net(x).sum().backward(inputs=[v.weight]))))

# ---- hooks see sums
seen = []
hook = w.weight.register_hook(lambda g: seen.append(g.norm()) or g * 2)
items.append(("hook", [gradients(lambda: net(x).sum().backward()), list(seen)]))
hook.remove()
hook = v.weight.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.norm()))
items.append(("hook behind", [gradients(lambda: net(x).sum().backward()), list(seen)]))
hook.remove()


def between():
    h = x
    for i in range(30):
        h = torch.tanh(v(w(h)))
        if i % 10 == 4:
            h.register_hook(lambda g: seen.append(g.norm()) or g * 0.5)
    h.sum().backward()


seen.clear()
items.append(("hooks between", [gradients(between), list(seen)]))


# ---- operands that a node of the program writes in the middle of the pass
class Touch(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value, operand, quietly):
        ctx.operand, ctx.quietly = operand, quietly
        return value.clone()

    @staticmethod
    def backward(ctx, grad):
        (ctx.operand.data if ctx.quietly else ctx.operand).zero_()
        return grad, None, None


def touched(quietly):
    operand, total = wave(3, 64).float(), 0
    for i in range(6):
        total = total + w(operand).pow(2).sum()
        if i == 3:
            total = Touch.apply(total, operand, quietly)
    total.backward()


items.append(("written quietly", gradients(lambda: touched(True))))
try:
    touched(False)
except RuntimeError as error:
    items.append(("written", str(error)[:80]))



# ---- operands that the pass itself adds to: they are the .grad of a leaf
def of_gradients(side):
    weight, leaf = nn.Parameter(wave(48, 48).float() * 0.1), nn.Parameter(torch.zeros(2, 48))
    leaf.grad, fixed = wave(2, 48).float(), wave(2, 48).float() * 0.5
    operand, root = (fixed, leaf.grad) if side == "root" else (leaf.grad, fixed)
    operand = {"data": lambda t: t.data, "array": lambda t: torch.from_numpy(t.numpy()[1:])}.get(side, lambda t: t)(operand)
    torch.autograd.backward([fixed @ weight, leaf * 3, operand @ weight], [root, root, root[: len(operand)]])
    return [weight.grad.norm(), leaf.grad.norm()]


# ---- operands that code of the program writes which unpacks what is saved
def unpacked(where):
    operands, total = [wave(2, 64).float() * (i + 1) for i in range(5)], 0

    def unpack(t):
        for operand in operands:
            operand.data.zero_()
        return t

    for i, operand in enumerate(operands):
        hooks = torch.autograd.graph.saved_tensors_hooks(torch.clone, unpack)
        with hooks if i == 2 and where == "product" else contextlib.nullcontext():
            total = total + w(operand).sin().sum()
        with hooks if i == 2 and where == "other" else contextlib.nullcontext():
            total = total + total.cos()
    total.backward()


items.append(("adds to what is read", [of_gradients(side) for side in ("operand", "root", "data", "array")]))
items.append(("unpacked", gradients(lambda: unpacked("product"))))
items.append(("unpacked elsewhere", gradients(lambda: unpacked("other"))))

# ---- passes
loss = net(x).sum()
items.append(("kept", [gradients(lambda: loss.backward(retain_graph=True)), gradients(lambda: loss.backward())]))
(g,) = torch.autograd.grad(net(x, 40).sum(), x, create_graph=True)
items.append(("twice", gradients(lambda: g.pow(2).sum().backward())))
with torch.autograd.set_detect_anomaly(True):
    items.append(("looked at for NaN", gradients(lambda: net(x, 40).sum().backward())))

# ---- other products, dtypes and shapes
for dtype, rows in ((torch.float64, 2), (torch.float32, 1), (torch.float32, 30), (torch.float32, 3), (torch.bfloat16, 2)):
    m = (wave(40, 40) * 0.1).to(dtype).requires_grad_()
    q = wave(rows, 40).to(dtype)
    for _ in range(20):
        q = torch.tanh(q @ m)
    q.float().sum().backward()
    items.append((f"mm {dtype} {rows}", round(m.grad.double().norm().item(), 2 if dtype == torch.bfloat16 else 6)))
cube = wave(1, 2, 64).float()
items.append(("3d", gradients(lambda: sum(v(torch.relu(w(cube + i))).sum() for i in range(40)).backward())))
items.append(("1d", gradients(lambda: sum(v(torch.relu(w(cube[0, 0] + i))).sum() for i in range(40)).backward())))
items.append(("nothing", gradients(lambda: sum(w(cube[:, :0]).sum() + w(cube).sum() for i in range(4)).backward())))
items.append(("turned", gradients(lambda: sum(w(wave(64, 3).float().t()).sum() * i for i in range(4)).backward())))
tied = nn.Linear(48, 64)
tied.weight = nn.Parameter(w.weight.detach().t().contiguous())
items.append(("other weight", [gradients(lambda: sum(tied(w(x)).sum() for _ in range(9)).backward()), tied.weight.grad.norm()]))
cell = nn.LSTMCell(32, 64)
for p in cell.parameters():
    p.data = wave(*p.shape).float() * 0.1
h = c = torch.zeros(3, 64)
for t in range(40):
    h, c = cell(torch.ones(3, 32) * t * 0.01, (h, c))
(h.sum() + c.sum()).backward()
items.append(("cell", [p.grad.norm() for p in cell.parameters()]))
check(items, __file__)
