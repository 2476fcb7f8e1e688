# run: --torch
# run: --torch --capture=off
"""Programs give the same under a mode of __torch_dispatch__ that sees their ops as without it: layers in training, views that are
written to, losses, gradients of gradients."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint


class Counting(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.ops = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.ops.add(str(func))
        return func(*args, **(kwargs or {}))


torch.manual_seed(0)
x, tokens, image = torch.randn(4, 7, 8), torch.randint(0, 10, (3, 5)), torch.randn(2, 3, 8, 8)


class OfItself(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x)


def trained(model, x):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
    losses = []
    for _ in range(3):
        y = model(x)
        loss = (y[0] if isinstance(y, tuple) else y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses + [p.detach() for p in model.parameters()]


MODELS = (
    (lambda: nn.LSTM(8, 6, 2, batch_first=True, bidirectional=True), x), (lambda: nn.GRU(8, 6), x), (OfItself, x),
    (lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True, activation="gelu"), x),
    (lambda: nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.GroupNorm(2, 4), nn.SiLU(inplace=True), nn.AvgPool2d(2), nn.Conv2d(4, 4, 3, groups=2),
        nn.BatchNorm2d(4), nn.LeakyReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)), image),
    (lambda: nn.Sequential(
        nn.ConvTranspose2d(3, 4, 2, stride=2), nn.Upsample(scale_factor=2, mode="bilinear"), nn.InstanceNorm2d(4), nn.PReLU(), nn.PixelShuffle(2)),
     image),
    (lambda: nn.Sequential(nn.Embedding(10, 8, padding_idx=0), nn.LayerNorm(8), nn.Dropout(0.2), nn.Linear(8, 8), nn.Softmax(-1)), tokens),
)  # fmt: skip


def written_views(m):
    y = m(x[0]) * 1.0
    row, part = y[:, 0], y.view(-1)[3:5]
    y.add_(1)
    row.mul_(2)
    part.zero_()
    y[1] = torch.ones(8)
    y[:, 2] = y[:, 3] * 3
    (y * y).sum().backward()
    return [m.weight.grad, row, y]


def relu_of_a_view(m):
    F.relu(m(x[0]).view(7, 2, 4), inplace=True).square().sum().backward()
    return [m.weight.grad]


def losses(m):
    scores, classes = m(x[0]), torch.arange(7) % 8
    return [
        F.cross_entropy(scores, classes, label_smoothing=0.1), F.binary_cross_entropy_with_logits(scores, torch.rand(7, 8)),
        F.kl_div(scores.log_softmax(1), torch.rand(7, 8).softmax(1), reduction="batchmean"), F.smooth_l1_loss(scores, torch.zeros(7, 8)),
        F.nll_loss(scores.log_softmax(1), classes, weight=torch.rand(8)), F.huber_loss(scores, torch.zeros(7, 8)),
    ]  # fmt: skip


def twice(m):
    first = torch.autograd.grad(m(x).tanh().sum(), list(m.parameters()), create_graph=True)
    return list(torch.autograd.grad(sum((g * g).sum() for g in first), list(m.parameters())))


def recomputed(m):
    checkpoint(lambda a: m(a).sin(), x.clone().requires_grad_(), use_reentrant=False).sum().backward()
    return [m.weight.grad]


def others(m):
    return [
        torch.linalg.svd(m.weight)[1].sum(), torch.linalg.inv(m.weight).sum(), torch.fft.fft(x).real, torch.einsum("bij,kj->bik", x, m.weight), x.unique(),
        torch.cdist(x, x), x.cumprod(1), x.sort(1)[0], x.half().float(), (x > 0).sum().float(), torch.tensor([1, 2]) + x[0, 0, 0], x[x > 0].sum(),
        torch.nonzero(x[0] > 0).float(), x.transpose(1, 2).reshape(4, -1), x.permute(2, 0, 1).flatten(1), x.transpose(0, 1) @ m.weight,
        torch.matmul(m.weight, x[0].T), torch.matmul(x[0, 0], x.mT), x.unfold(1, 2, 1).contiguous(), x[:, ::2].reshape(-1, 2),
        x[..., None].expand(4, 7, 8, 2).reshape(-1), torch.func.grad(lambda w: (x @ w).sin().sum())(torch.ones(8, 3)), torch.func.vmap(torch.sum)(x),
    ]  # fmt: skip


def compare(name, make, run):
    torch.manual_seed(1)
    plain = run(make())
    torch.manual_seed(1)
    with Counting() as mode:
        seen = run(make())
    for a, b in zip(plain, seen, strict=True):
        torch.testing.assert_close(b, a, atol=1e-5, rtol=1e-4, msg=lambda text: f"{name}: {text}")
    assert len(mode.ops) > 3, (name, mode.ops)


for number, (make, input) in enumerate(MODELS):
    compare(f"model {number}", make, lambda model: trained(model, input))
for run in (written_views, relu_of_a_view, losses, twice, recomputed, others):
    compare(run.__name__, lambda: nn.Linear(8, 8), run)
print("ok")
