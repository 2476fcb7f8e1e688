# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
"""What gradients rest on stays as it was: values that in-place forms overwrite, gradients with a tape that lie in the memory
of others. Gradients of a Function in the shape of what its input broadcasts to; outputs that its forward() has a tape of;
rows of gradients at once."""

import pathlib
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

results = []
a = torch.tensor([[0.5, -1.0, 0.3], [0.2, 0.7, -0.4], [1.1, -0.6, 0.9]], requires_grad=True)
FORMS = """
r.clamp_min_(0); r.clamp_min_(0).div_(-2).exp_(); r.clamp_max_(0.5).mul_(3); r.clamp_(-0.5, 0.5).mul_(3); r.clamp_(min=a).mul_(2)
r.square_().mul_(2); r.square_().square_(); r.xlogy_(a.abs() + 1).mul_(2); r.detach().xlogy_(a.abs() + 1).mul_(2); r.renorm_(2, 0, 1.0).mul_(2)
(r * 0.1 + 0.4).logit_(1e-3).mul_(2); r.sin_().mul_(3); r.diagonal().clamp_min_(0.1).mul_(2); r.maximum(a).clamp_min_(0.2)
"""
for text in (form.strip() for line in FORMS.strip().splitlines() for form in line.split(";")):
    a.grad = None
    r = a @ a
    made = eval(text)
    (made * made + made).sum().backward()
    results.append((text, a.grad.clone()))
with torch.no_grad():
    results.append(("without a tape", (a @ a).clamp_min_(0).square_()))

# A gradient with a tape of its own is nobody else's memory, and no view.
row, seed = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True), torch.ones(3, 1, requires_grad=True)
for _ in range(2):
    row.t().backward(seed, create_graph=True)
    row.grad.detach_()
row.grad.zero_()
results.append(("seed", seed))
layers = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.LayerNorm(3), torch.nn.Linear(3, 1))
with torch.no_grad():
    for p in layers.parameters():
        p.copy_(torch.arange(float(p.numel())).view(p.shape) / 7 + 0.1)
optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad(set_to_none=False)
    loss = layers(torch.tensor([[0.3, -0.2], [1.0, 0.5]])).square().sum()
    loss.backward(create_graph=True)
    results.append(("views", [p.grad._is_view() for p in layers.parameters()]))
    optimizer.step()
    results.append(("loss", loss.item()))


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale

    @staticmethod
    def backward(ctx, grad):
        x, scale = ctx.saved_tensors
        return grad * scale, grad * x


x = torch.arange(6.0).view(2, 3).requires_grad_()
for shape in ((), (1,), (1, 1), (3,), (2, 1)):
    scale = torch.full(shape, 2.0, requires_grad=True)
    Scaled.apply(x, scale).sum().backward()
    results.append((f"summed to {shape}", scale.grad))


class Short(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad[:1]


try:
    Short.apply(x).sum().backward()
except RuntimeError as error:
    results.append(("too short", str(error)))


class Inner(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.x = x.detach().requires_grad_()
            ctx.y = F.softplus(ctx.x)
        return ctx.y.detach().requires_grad_()

    @staticmethod
    def backward(ctx, grad):
        with torch.enable_grad():
            return torch.autograd.grad(ctx.y, ctx.x, grad)[0]


for _ in range(2):
    x.grad = None
    y = Inner.apply(x)
    y.square().sum().backward()
    results.append(("inner", [y.is_leaf, y.grad_fn.name(), x.grad]))

w, unused = torch.tensor([0.1, 0.5, -0.3], requires_grad=True), torch.ones(2, requires_grad=True)
for _ in range(3):
    y = torch.tanh(a.detach() @ w)
    (rows,) = torch.autograd.grad(y, w, torch.eye(3), is_grads_batched=True, create_graph=True)
    results.append(("rows", rows))
    results.append(("and on", torch.autograd.grad(rows.square().sum(), w)[0]))
    y = torch.tanh(a.detach() @ w)
    results.append(("unused", torch.autograd.grad(y, (w, unused), (torch.eye(3),), is_grads_batched=True, allow_unused=True)[1]))
check(results, __file__)
