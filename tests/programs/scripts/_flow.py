"""A normalising flow: activation norm, invertible linear maps (slogdet), affine couplings; sampled and inverted."""

import math

import torch
from torch import nn
from torch.distributions import MultivariateNormal


class ActNorm(nn.Module):
    """Scales and shifts so that the first batch comes out whitened."""

    def __init__(self, dim):
        super().__init__()
        self.log_scale = nn.Parameter(torch.zeros(1, dim))
        self.shift = nn.Parameter(torch.zeros(1, dim))
        self.register_buffer("ready", torch.tensor(False))

    def forward(self, x):
        if not self.ready:
            with torch.no_grad():
                self.log_scale.copy_(-torch.log(x.std(0, keepdim=True)))
                self.shift.copy_(-(x * self.log_scale.exp()).mean(0, keepdim=True))
                self.ready.fill_(True)
        return x * self.log_scale.exp() + self.shift, self.log_scale.sum().expand(len(x))

    def inverse(self, z):
        return (z - self.shift) * (-self.log_scale).exp()


class InvertibleLinear(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.linalg.qr(torch.randn(dim, dim))[0])

    def forward(self, x):
        _, log_det = torch.slogdet(self.weight)
        return x @ self.weight, log_det.expand(len(x))

    def inverse(self, z):
        return z @ torch.inverse(self.weight)


class Coupling(nn.Module):
    def __init__(self, dim, hidden=24, flip=False):
        super().__init__()
        self.flip = flip
        half = dim // 2
        self.net = nn.Sequential(
            nn.Linear(half, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 2 * (dim - half)),
        )
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def halves(self, x):
        a, b = x.chunk(2, dim=1)
        return (b, a) if self.flip else (a, b)

    def whole(self, a, b):
        return torch.cat((b, a) if self.flip else (a, b), dim=1)

    def forward(self, x):
        a, b = self.halves(x)
        shift, scale = self.net(a).chunk(2, dim=1)
        scale = torch.tanh(scale)
        return self.whole(a, b * scale.exp() + shift), scale.sum(1)

    def inverse(self, z):
        a, b = self.halves(z)
        shift, scale = self.net(a).chunk(2, dim=1)
        return self.whole(a, (b - shift) * torch.exp(-torch.tanh(scale)))


class Flow(nn.Module):
    def __init__(self, dim, layers):
        super().__init__()
        self.prior = MultivariateNormal(torch.zeros(dim), torch.eye(dim))
        self.flows = nn.ModuleList()
        for i in range(layers):
            self.flows.extend([ActNorm(dim), InvertibleLinear(dim), Coupling(dim, flip=i % 2 == 1)])

    def forward(self, x):
        log_det = torch.zeros(len(x))
        for flow in self.flows:
            x, more = flow(x)
            log_det = log_det + more
        return x, self.prior.log_prob(x), log_det

    def inverse(self, z):
        for flow in reversed(self.flows):
            z = flow.inverse(z)
        return z

    @torch.no_grad()
    def sample(self, count):
        return self.inverse(self.prior.sample((count,)))


def moons(count):
    """Two interleaved half circles, in the first two of four dimensions; the others follow them."""
    angle = math.pi * torch.rand(count)
    upper = torch.rand(count) < 0.5
    x = torch.where(upper, torch.cos(angle), 1 - torch.cos(angle))
    y = torch.where(upper, torch.sin(angle), 0.5 - torch.sin(angle))
    points = torch.stack([x, y], 1) + 0.05 * torch.randn(count, 2)
    return torch.cat([points, points.flip(1) * 0.5 + 0.1 * torch.randn(count, 2)], 1)


def main():
    torch.manual_seed(5)
    model = Flow(4, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, eps=1e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=60, eta_min=5e-4)
    for step in range(60):
        x = moons(128)
        _, prior, log_det = model(x)
        loss = -(prior + log_det).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if step % 12 == 0 or step == 59:
            rate = scheduler.get_last_lr()[0]
            print(f"step {step:2d} nll {loss.item():.4f} log det {log_det.mean().item():.4f} lr {rate:.5f}")
    x = moons(64)
    with torch.no_grad():
        z, _, log_det = model(x)
        back = model.inverse(z)
    print("inverse is exact:", torch.allclose(back, x, atol=1e-4))
    row = x[:1]
    jacobian = torch.autograd.functional.jacobian(lambda v: model(v)[0], row).reshape(4, 4)
    print("log det by jacobian", f"{torch.linalg.slogdet(jacobian).logabsdet.item():.3f}", f"{log_det[0].item():.3f}")
    drawn = model.sample(256)
    variances = torch.cov(drawn.T).diag().tolist()
    print("samples", [f"{v:.2f}" for v in drawn.mean(0).tolist()], [f"{v:.2f}" for v in variances])


if __name__ == "__main__":
    main()
