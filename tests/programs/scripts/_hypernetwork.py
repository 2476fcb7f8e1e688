"""A hypernetwork writes the weights of an implicit image model per task; functional calls, Fourier features, PSNR."""

import math
from typing import Dict

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


class FourierFeatures(nn.Module):
    def __init__(self, inputs, count, scale=2.0):
        super().__init__()
        self.register_buffer("B", torch.randn(inputs, count) * scale)

    def forward(self, x):
        projected = 2 * math.pi * x @ self.B
        return torch.cat([projected.sin(), projected.cos()], dim=-1)


class Sine(nn.Module):
    def __init__(self, w0=1.0):
        super().__init__()
        self.w0 = w0

    def forward(self, x):
        return torch.sin(self.w0 * x)


class ImplicitField(nn.Module):
    """Coordinates to a grey value."""

    def __init__(self, features=8, hidden=16):
        super().__init__()
        self.encode = FourierFeatures(2, features)
        self.layers = nn.Sequential(
            nn.Linear(2 * features, hidden), Sine(1.5), nn.Linear(hidden, hidden), Sine(), nn.Linear(hidden, 1)
        )

    def forward(self, xy):
        return self.layers(self.encode(xy)).squeeze(-1)


class HyperNetwork(nn.Module):
    def __init__(self, target: nn.Module, tasks: int, embedding: int = 6, hidden: int = 24):
        super().__init__()
        self.embedding = nn.Embedding(tasks, embedding)
        self.trunk = nn.Sequential(nn.Linear(embedding, hidden), nn.ELU())
        self.shapes = {name: p.shape for name, p in target.named_parameters()}
        self.base = nn.ParameterDict(
            {name.replace(".", "_"): p.detach().clone() for name, p in target.named_parameters()}
        )
        self.heads = nn.ModuleDict(
            {name.replace(".", "_"): nn.Linear(hidden, p.numel()) for name, p in target.named_parameters()}
        )
        for head in self.heads.values():
            nn.init.normal_(head.weight, std=1e-2)
            nn.init.zeros_(head.bias)

    def forward(self, task: torch.Tensor) -> Dict[str, torch.Tensor]:
        code = self.trunk(self.embedding(task))
        weights = {}
        for name, shape in self.shapes.items():
            key = name.replace(".", "_")
            weights[name] = self.base[key] + self.heads[key](code).view(shape)
        return weights


def render(task, xy):
    """Task k is a ring of its own radius around its own centre."""
    centre = torch.tensor([math.cos(task), math.sin(task)]) * 0.3
    return torch.exp(-40 * ((xy - centre).norm(dim=-1) - 0.2 - 0.1 * task) ** 2)


def psnr(prediction, target):
    return -10 * torch.log10(F.mse_loss(prediction, target))


def main():
    torch.manual_seed(17)
    tasks, side = 3, 12
    axis = torch.linspace(-1, 1, side)
    xy = torch.stack(torch.meshgrid(axis, axis, indexing="xy"), dim=-1).view(-1, 2)
    images = torch.stack([render(task, xy) for task in range(tasks)])
    field = ImplicitField()
    hyper = HyperNetwork(field, tasks)
    buffers = dict(field.named_buffers())
    print("field", sum(p.numel() for p in field.parameters()), "hyper", sum(p.numel() for p in hyper.parameters()))
    optimizer = torch.optim.Adam(hyper.parameters(), lr=4e-3, eps=1e-6)
    scheduler = torch.optim.lr_scheduler.SequentialLR(
        optimizer,
        [torch.optim.lr_scheduler.ConstantLR(optimizer, 0.3, total_iters=10),
         torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=50, power=0.9)],
        milestones=[10],
    )  # fmt: skip
    for step in range(60):
        optimizer.zero_grad()
        total = 0.0
        for task in torch.randperm(tasks)[:2]:
            rows = torch.randint(0, len(xy), (64,))
            weights = hyper(task)
            prediction = functional_call(field, {**weights, **buffers}, (xy[rows],))
            loss = F.mse_loss(prediction, images[task, rows])
            loss = loss + 1e-5 * sum(w.pow(2).sum() for w in weights.values())
            loss.backward()
            total += loss.item()
        optimizer.step()
        scheduler.step()
        if step % 12 == 11:
            print(f"step {step} loss {total / 2:.4f} lr {optimizer.param_groups[0]['lr']:.5f}")
    with torch.no_grad():
        values = [psnr(functional_call(field, hyper(torch.tensor(t)), xy), images[t]).item() for t in range(tasks)]
        own = psnr(field(xy), images[0]).item()
    print("psnr", [f"{v:.2f}" for v in values], f"untouched field {own:.2f}")


if __name__ == "__main__":
    main()
