"""Gaussian processes: Cholesky marginal likelihood, kernels that compose, a sparse variational one, deep kernels."""

import abc
import math
from functools import cached_property

import torch
from torch import nn
from torch.distributions import MultivariateNormal, kl_divergence

torch.set_default_dtype(torch.float64)


class Kernel(nn.Module, abc.ABC):
    def __add__(self, other):
        return Combined(self, other, torch.add)

    def __mul__(self, other):
        return Combined(self, other, torch.mul)

    @abc.abstractmethod
    def forward(self, a, b):
        """The covariances of the rows of a with those of b."""


class Combined(Kernel):
    def __init__(self, left, right, how):
        super().__init__()
        self.left, self.right, self.how = left, right, how

    def forward(self, a, b):
        return self.how(self.left(a, b), self.right(a, b))


class RBF(Kernel):
    def __init__(self, dim, scale=0.5):
        super().__init__()
        self.raw_scale = nn.Parameter(torch.full((dim,), math.log(math.expm1(scale))))
        self.raw_height = nn.Parameter(torch.tensor(0.5))

    def forward(self, a, b):
        scale = nn.functional.softplus(self.raw_scale)
        squares = torch.cdist(a / scale, b / scale).pow(2)
        return nn.functional.softplus(self.raw_height) * torch.exp(-0.5 * squares)


class Periodic(Kernel):
    def __init__(self, period=1.0):
        super().__init__()
        self.log_period, self.log_scale = nn.Parameter(torch.tensor(math.log(period))), nn.Parameter(torch.tensor(0.0))

    def forward(self, a, b):
        distance = (a[:, None, :1] - b[None, :, :1]).abs().squeeze(-1)
        return torch.exp(-2 * torch.sin(math.pi * distance / self.log_period.exp()) ** 2 / self.log_scale.exp() ** 2)


class ExactGP(nn.Module):
    def __init__(self, x, y, kernel):
        super().__init__()
        self.x, self.y, self.kernel = x, y, kernel
        self.mean, self.log_noise = nn.Parameter(torch.zeros(())), nn.Parameter(torch.tensor(-2.0))

    def cholesky(self):
        covariance = self.kernel(self.x, self.x) + self.log_noise.exp() * torch.eye(len(self.x))
        return torch.linalg.cholesky(covariance)

    def forward(self):
        """The negative log marginal likelihood per point."""
        lower = self.cholesky()
        residual = (self.y - self.mean).unsqueeze(1)
        alpha = torch.cholesky_solve(residual, lower)
        fit = 0.5 * (residual * alpha).sum()
        return (fit + lower.diagonal().log().sum()) / len(self.x) + 0.5 * math.log(2 * math.pi)

    @torch.no_grad()
    def predict(self, x):
        lower, cross = self.cholesky(), self.kernel(self.x, x)
        solved = torch.linalg.solve_triangular(lower, cross, upper=False)
        mean = self.mean + solved.mT @ torch.linalg.solve_triangular(lower, (self.y - self.mean)[:, None], upper=False)
        return mean.squeeze(1), self.kernel(x, x).diagonal() - solved.pow(2).sum(0)


class SparseGP(nn.Module):
    """Inducing points, a Gaussian posterior over their values, an evidence bound over minibatches."""

    def __init__(self, inducing, kernel, features):
        super().__init__()
        self.features, self.kernel = features, kernel
        self.inducing = nn.Parameter(inducing)
        m = len(inducing)
        self.mean, self.factor = nn.Parameter(torch.zeros(m)), nn.Parameter(0.5 * torch.eye(m))
        self.log_noise = nn.Parameter(torch.tensor(-2.0))

    @cached_property
    def jitter(self):
        return 1e-5 * torch.eye(len(self.inducing))

    def posterior(self, x):
        z, x = self.inducing, self.features(x)
        lower = torch.linalg.cholesky(self.kernel(z, z) + self.jitter)
        a = torch.linalg.solve_triangular(lower, self.kernel(z, x), upper=False)
        mean = a.mT @ self.mean
        spread = self.factor.tril().mT @ a
        variance = self.kernel(x, x).diagonal() - a.pow(2).sum(0) + spread.pow(2).sum(0)
        return mean, variance.clamp(min=1e-8)

    def loss(self, x, y, total):
        mean, variance = self.posterior(x)
        noise = self.log_noise.exp()
        expected = -0.5 * (math.log(2 * math.pi) + self.log_noise + ((y - mean) ** 2 + variance) / noise)
        q = MultivariateNormal(self.mean, scale_tril=self.factor.tril())
        p = MultivariateNormal(torch.zeros_like(self.mean), torch.eye(len(self.mean)))
        return -(expected.mean() - kl_divergence(q, p) / total)


def main():
    torch.manual_seed(9)
    x = torch.sort(torch.rand(48) * 4).values.unsqueeze(1)
    y = torch.sin(2 * math.pi * x[:, 0]) + 0.3 * x[:, 0] + 0.1 * torch.randn(48)
    gp = ExactGP(x, y, RBF(1, 1.5) + RBF(1, 3.0) * Periodic(1.1))
    optimizer = torch.optim.Adam(gp.parameters(), lr=0.05)
    for step in range(40):
        optimizer.zero_grad(set_to_none=False)
        loss = gp()
        loss.backward()
        optimizer.step()
        if step % 8 == 7:
            print(f"exact {step} nll {loss.item():.5f} period {gp.kernel.right.right.log_period.exp().item():.4f}")
    mean, variance = gp.predict(torch.tensor([[0.25], [2.0], [5.0]]))
    print("mean", [f"{v:.3f}" for v in mean.tolist()], "deviation", [f"{v:.3f}" for v in variance.sqrt().tolist()])

    features = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 2))
    with torch.no_grad():
        inducing = features(x[::6])
    sparse = SparseGP(inducing.clone(), RBF(2, 1.0), features)
    optimizer = torch.optim.Adam(sparse.parameters(), lr=0.03)
    for step in range(60):
        rows = torch.randperm(len(x))[:24]
        loss = sparse.loss(x[rows], y[rows], len(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 12 == 11:
            print(f"sparse {step} loss {loss.item():.4f} noise {sparse.log_noise.exp().item():.4f}")
    with torch.no_grad():
        mean, variance = sparse.posterior(x)
    print(
        f"error {(mean - y).pow(2).mean().sqrt().item():.3f} deviation {variance.mean().sqrt().item():.3f}", mean.dtype
    )


if __name__ == "__main__":
    main()
