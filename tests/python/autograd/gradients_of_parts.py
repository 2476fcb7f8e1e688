# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
# run: --torch --capture=coexec TERRA_RUNNER=turns
"""Gradients of views of some elements: alone, beside each other, overlapping, beside gradients of the whole and of other dtypes,
hooked, kept, twice, written in place; layers that work on parts."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

results = []
x = torch.arange(12.0).reshape(3, 4).requires_grad_()
OF_X = [
    lambda x: x[1] * 2,
    lambda x: x[1] * 2 + x[1] * 3,
    lambda x: x[0:2] * x[1:3],
    lambda x: (x * 2).sum() + (x[:, 1] ** 2).sum(),
    lambda x: (x[:, 1] ** 2).sum() + (x * 2).sum(),
    lambda x: x.sum() + x[2, 3] * x[0, 0],
    lambda x: sum(part * i for i, part in enumerate(x.unbind(1))),
    lambda x: sum((part * part).sum() for part in x.chunk(2, 1)),
    lambda x: x.diagonal() * x[:, ::2].sum(1),
    lambda x: x.t()[1] * x.t()[3],
    lambda x: x[1:1].sum() + x[0].sum(),
    lambda x: x[0].double() * x[1].double(),
    lambda x: x[0] + x[1:].expand(2, 4) + x.narrow(1, 0, 1)[:2],
    lambda x: x.select(0, 1)[1:3] * x.select(1, 2)[0],
]
for _ in range(14):
    results = [(str(i), torch.autograd.grad(f(x).sum(), x)[0]) for i, f in enumerate(OF_X)]

y = torch.arange(6.0).requires_grad_()
(y[1:3] * 3).sum().backward()
results.append(("added to .grad", y.grad.clone()))
(y[2:4] * 5).sum().backward()
results.append(("twice", y.grad))
kept, y.grad = y.grad, None
(y[0] * 2).backward()
y.grad.add_(1)
results.append(("its own", [y.grad, kept]))

z = torch.ones(4, requires_grad=True)
h = z * 1
h.retain_grad()
a, b = h[:2], h[2:]
a.retain_grad()
a.register_hook(lambda g: g * 10)
seen = []
h.register_hook(lambda g: seen.append(g.clone()))
(a * 2 + b).sum().backward()
results.append(("hooked", [z.grad, h.grad, a.grad, *seen]))
v = torch.ones(4, requires_grad=True)
part = (v * 1)[1:3]
part.grad_fn.register_hook(lambda inner, outer: results.append(("node", [*inner, *outer])))
(part * 2).sum().backward()
results.append(("below it", v.grad))

u = torch.arange(1.0, 5.0).requires_grad_()
(first,) = torch.autograd.grad((u[:2] ** 3).sum() + (u[1:3] ** 2).sum(), u, create_graph=True)
results.append(("first", first))
results.append(("second", torch.autograd.grad(first.sum(), u)[0]))
m = torch.ones(3, 3, requires_grad=True)
k = m * 2
o = k[0].sum() + k[1].sum() * 2
results.append(("selected", [*torch.autograd.grad(o, [k, m], retain_graph=True), *torch.autograd.grad(o, [m])]))
e = torch.ones(4, requires_grad=True) * 1
e.retain_grad()
e[1:3].mul_(3)
(e[0] + e[1] * 2).backward()
results.append(("written", e.grad))
spread = torch.ones(3, requires_grad=True).expand(2, 3)
results.append(("spread", torch.autograd.grad((spread[0] * 2 + spread[1]).sum(), spread)[0]))
t = torch.ones(2, 3, requires_grad=True) * 1
results.append(("the whole is an expanded number", torch.autograd.grad(t.sum() + t[0].sum(), t)[0]))

c = torch.ones(4, dtype=torch.complex64, requires_grad=True)
(c[1] * 2j + c[2]).abs().backward()
results.append(("complex", torch.view_as_real(c.grad)))
half = torch.ones(5, dtype=torch.bfloat16, requires_grad=True)
(half[:3].float() * half[2:].float()).sum().backward()
results.append(("bfloat16", half.grad.float()))
sign = torch.ones(3, requires_grad=True)
(sign[0] * -0.0).backward()
results.append(("signs of zeros", str(sign.grad)))
sign.grad = None
(sign[0] * -0.0 + sign[1]).backward()
results.append(("signs of sums", str(sign.grad)))
SIGNS = [
    lambda x, zero: x[0] * zero,
    lambda x, zero: x[0] * zero + x[0] * zero,
    lambda x, zero: x[0] * zero + x[1] * zero,
    lambda x, zero: x[1:].sum() * zero + x[:2].sum() * zero,
    lambda x, zero: x[:2].sum() * zero + x[:3].sum() * zero,
    lambda x, zero: x[0] * zero + x[0] * zero + x[2] * zero,
    lambda x, zero: (x * zero).sum() + x[1] * zero,
    lambda x, zero: x[1] * zero + (x * zero).sum(),
]
for _ in range(14):
    signs = [torch.autograd.grad(f(sign, torch.tensor(-0.0)), sign)[0].signbit() for f in SIGNS]
results.append(("signs where views meet", signs))
table = torch.nn.Embedding(4, 2, sparse=True)
torch.nn.init.ones_(table.weight)
(table(torch.tensor([1, 1])).sum() + table.weight[2].sum()).backward()
results.append(("beside a sparse one", table.weight.grad.to_dense()))
with torch.autograd.set_detect_anomaly(True):
    d = torch.ones(4, requires_grad=True)
    (d[0] * d[1]).backward()
    results.append(("watched", d.grad))

torch.manual_seed(0)
lstm = torch.nn.LSTM(3, 4, num_layers=2, bidirectional=True)
gru = torch.nn.GRU(3, 4)
sequence = torch.randn(5, 2, 3, requires_grad=True)
(lstm(sequence)[0].pow(2).sum() + gru(sequence)[0].sum()).backward()
results.append(("recurrent", [sequence.grad, *(p.grad for p in lstm.parameters()), *(p.grad for p in gru.parameters())]))
check(results, __file__)
