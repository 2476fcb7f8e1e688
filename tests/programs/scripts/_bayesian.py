"""Bayesian nets: local reparametrisation, a scale-mixture prior, variational dropout that prunes, predictive spread."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical, MixtureSameFamily, Normal


class BayesLinear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.mu = nn.Parameter(torch.empty(outputs, inputs).normal_(0, 1 / math.sqrt(inputs)))
        self.rho = nn.Parameter(torch.full((outputs, inputs), -4.0))
        self.bias = nn.Parameter(torch.zeros(outputs))
        mixture = Categorical(torch.tensor([0.5, 0.5]))
        self.prior = MixtureSameFamily(mixture, Normal(torch.zeros(2), torch.tensor([1.0, 0.1])))

    @property
    def posterior(self):
        return Normal(self.mu, F.softplus(self.rho))

    def forward(self, x):
        """Samples what comes out rather than the weights."""
        mean = F.linear(x, self.mu, self.bias)
        variance = F.linear(x**2, F.softplus(self.rho) ** 2)
        return mean + torch.sqrt(variance + 1e-8) * torch.randn_like(mean)

    def complexity(self):
        weights = self.posterior.rsample()
        return (self.posterior.log_prob(weights) - self.prior.log_prob(weights)).sum()


class LinearARD(nn.Module):
    """Dropout whose rate is learned per weight; weights whose noise is all are cut."""

    def __init__(self, inputs, outputs, threshold=2.5):
        super().__init__()
        self.W = nn.Parameter(0.3 * torch.randn(outputs, inputs))
        self.log_sigma2 = nn.Parameter(torch.full_like(self.W, -6.0))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.threshold = threshold

    @property
    def log_alpha(self):
        return (self.log_sigma2 - torch.log(self.W**2 + 1e-8)).clamp(-8, 8)

    def forward(self, x):
        if not self.training:
            return F.linear(x, self.W * (self.log_alpha < self.threshold), self.bias)
        noise = torch.sqrt(F.linear(x * x, torch.exp(self.log_alpha) * self.W**2) + 1e-8)
        return F.linear(x, self.W, self.bias) + noise * torch.randn_like(noise)

    def complexity(self):
        k1, k2, k3 = 0.63576, 1.87320, 1.48695
        log_alpha = self.log_alpha
        return -(k1 * torch.sigmoid(k2 + k3 * log_alpha) - 0.5 * torch.log1p(torch.exp(-log_alpha)) - k1).sum()


class Net(nn.Module):
    def __init__(self, layer, *sizes):
        super().__init__()
        self.layers = nn.ModuleList(layer(a, b) for a, b in zip(sizes, sizes[1:]))
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def forward(self, x):
        *hidden, last = self.layers
        for layer in hidden:
            x = torch.tanh(layer(x))
        return last(x)

    def complexity(self):
        return sum(layer.complexity() for layer in self.layers)

    def loss(self, x, y, total, beta):
        likelihood = Normal(self(x), self.log_noise.exp()).log_prob(y).mean()
        return beta * self.complexity() / total - likelihood, likelihood


class MonteCarloDropout(nn.Sequential):
    def __init__(self, *layers):
        super().__init__(*layers)

    def train(self, mode=True):
        """Dropout stays on."""
        super().train(mode)
        for module in self.modules():
            if module.__class__.__name__.startswith("Dropout"):
                module.training = True
        return self


@torch.no_grad()
def predictive(model, x, samples=20):
    model.eval()
    draws = torch.stack([model(x) for _ in range(samples)])
    return draws.mean(0).squeeze(1), draws.std(0, unbiased=False).squeeze(1)


def calibration(mean, spread, y):
    z = (y - mean).abs() / spread
    levels = torch.tensor([0.5, 0.9])
    limits = Normal(0.0, 1.0).icdf(0.5 + levels / 2)
    return [(z < limit).float().mean().item() for limit in limits]


def data(count, low=-1.0, high=1.0):
    x = torch.empty(count, 1).uniform_(low, high)
    extra = torch.randn(count, 3)
    return torch.cat([x, extra], 1), torch.sin(3 * x) + 0.1 * torch.randn(count, 1)


def train(name, model, x, y, steps=60, lr=0.02):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, eps=1e-5)
    for step in range(steps):
        model.train()
        rows = torch.randint(len(x), (32,))
        beta = min(1.0, step / 30)
        loss, likelihood = model.loss(x[rows], y[rows], len(x), beta)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 15 == 14:
            print(f"{name} {step} loss {loss.item():.4f} likelihood {likelihood.item():.4f}")


def main():
    torch.manual_seed(77)
    x, y = data(200)
    far = data(50, 2.0, 3.0)[0]
    bayes = Net(BayesLinear, 4, 16, 1)
    train("bayes", bayes, x, y)
    mean, spread = predictive(bayes, x)
    noise = bayes.log_noise.exp().item()
    shares = calibration(mean, (spread**2 + noise**2).sqrt(), y.squeeze(1))
    print(f"noise {noise:.3f} spread {spread.mean().item():.3f} shares", [round(s, 2) for s in shares])

    sparse = Net(LinearARD, 4, 16, 1)
    train("sparse", sparse, x, y, steps=60, lr=0.02)
    for i, layer in enumerate(sparse.layers):
        cut = (layer.log_alpha >= layer.threshold).any().item()
        print(f"layer {i}: cut {cut} alpha {layer.log_alpha.mean().item():.2f}")
    print(f"inputs that matter {[round(v, 2) for v in sparse.layers[0].W.abs().mean(0).tolist()]}")

    net = MonteCarloDropout(nn.Linear(4, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
    optimizer = torch.optim.Adamax(net.parameters(), lr=0.02)
    for _ in range(40):
        optimizer.zero_grad()
        loss = F.huber_loss(net(x), y, delta=0.5)
        loss.backward()
        optimizer.step()
    _, near_spread = predictive(net, x)
    _, far_spread = predictive(net, far)
    print(f"dropout loss {loss.item():.4f} near {near_spread.mean().item():.4f} far {far_spread.mean().item():.4f}")


if __name__ == "__main__":
    main()
