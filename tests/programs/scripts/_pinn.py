"""A physics-informed net for Burgers' equation: derivatives by grad, Adam then L-BFGS, loss weights learned."""

import argparse
import math

import numpy as np
import torch
import torch.nn as nn

NU = 0.05


class MLP(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.linears = nn.ModuleList([nn.Linear(a, b) for a, b in zip(layers, layers[1:])])
        self.scale = nn.Parameter(torch.ones(len(layers) - 2))  # adaptive slopes of the activations
        for linear in self.linears:
            nn.init.xavier_normal_(linear.weight, gain=5 / 3)
            nn.init.zeros_(linear.bias)

    def forward(self, x, t):
        h = torch.cat([x, t], dim=1)
        for scale, linear in zip(self.scale, self.linears[:-1]):
            h = torch.tanh(scale * linear(h))
        return self.linears[-1](h)


def derivative(y, x, order=1):
    for _ in range(order):
        y = torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y), create_graph=True, retain_graph=True)[0]
    return y


class BurgersSolver:
    def __init__(self, args):
        self.args = args
        self.net = MLP([2, *args.hidden, 1])
        self.log_weights = nn.Parameter(torch.zeros(3))
        self.rng = np.random.default_rng(args.seed)
        self.x_initial = torch.linspace(-1, 1, 40).unsqueeze(1)
        self.history = []

    def latin_hypercube(self, count):
        columns = [(self.rng.permutation(count) + self.rng.random(count)) / count for _ in range(2)]
        return torch.tensor(np.stack(columns, axis=1), dtype=torch.float32)

    def residual(self, x, t):
        x.requires_grad_(True)
        t.requires_grad_(True)
        u = self.net(x, t)
        u_t, u_x = torch.autograd.grad(u.sum(), (t, x), create_graph=True)
        u_xx = derivative(u_x, x)
        return u_t + u * u_x - NU * u_xx

    def losses(self):
        points = self.collocation
        equation = self.residual(points[:, :1].clone() * 2 - 1, points[:, 1:].clone()).pow(2).mean()
        zero = torch.zeros_like(self.x_initial)
        initial = (self.net(self.x_initial, zero) + torch.sin(math.pi * self.x_initial)).pow(2).mean()
        time = torch.linspace(0, 1, 20).unsqueeze(1)
        ends = [self.net(torch.full_like(time, side), time) for side in (-1.0, 1.0)]
        boundary = sum(end.pow(2).mean() for end in ends)
        return torch.stack([equation, 5 * initial, boundary])

    def total(self, losses):
        """Each loss with an uncertainty that is learned."""
        return (torch.exp(-self.log_weights) * losses + self.log_weights).sum()

    def train_adam(self):
        optimizer = torch.optim.Adam(
            [{"params": self.net.parameters()}, {"params": [self.log_weights], "lr": 1e-3}], lr=self.args.lr, eps=1e-6
        )
        decay = torch.optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.7)
        for step in range(self.args.adam):
            if step % 10 == 0:
                self.collocation = self.latin_hypercube(self.args.points)
            optimizer.zero_grad()
            losses = self.losses()
            self.total(losses).backward()
            optimizer.step()
            decay.step()
            self.history.append(losses.detach())
            if step % 12 == 11:
                print(f"adam {step} equation %.4f initial %.4f boundary %.4f" % tuple(losses.tolist()))

    def train_lbfgs(self):
        optimizer = torch.optim.LBFGS(
            self.net.parameters(), lr=1.0, max_iter=self.args.lbfgs, history_size=8, line_search_fn="strong_wolfe"
        )
        calls = 0

        def closure():
            nonlocal calls
            calls += 1
            optimizer.zero_grad()
            loss = self.losses().sum()
            loss.backward()
            return loss

        first = optimizer.step(closure).item()
        print(f"lbfgs from {first:.4f} to {self.losses().sum().item():.4f}, more than 6 calls: {calls > 6}")

    def mass(self):
        """What the exact solution keeps: u is odd, its integral nothing."""
        with torch.no_grad():
            x = torch.linspace(-1, 1, 101).unsqueeze(1)
            values = self.net(x, torch.full_like(x, 0.5)).squeeze(1)
        return torch.trapezoid(values, x.squeeze(1)).item(), values.abs().max().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, nargs="*", default=[16, 16])
    parser.add_argument("--points", type=int, default=96)
    parser.add_argument("--adam", type=int, default=60)
    parser.add_argument("--lbfgs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=8e-3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    solver = BurgersSolver(args)
    solver.train_adam()
    print("slopes", [round(s, 3) for s in solver.net.scale.tolist()])
    print("weights", [round(w, 3) for w in solver.log_weights.tolist()])
    solver.train_lbfgs()
    print("mass %.2f largest %.2f" % solver.mass())
    print("history", tuple(torch.stack(solver.history).shape))


if __name__ == "__main__":
    main()
