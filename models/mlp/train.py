"""A small network that tells two spirals apart: most of a step is Python, little is arithmetic.

    terra-run --torch models/mlp/train.py [--steps N]"""

import argparse
import math
import time

import torch
import torch.nn.functional as F
from torch import nn


def spirals(n, generator):
    """n points in the plane on two arms, and which arm each is on."""
    arm = torch.arange(n) % 2
    t = torch.rand(n, generator=generator).sqrt() * 3 * math.pi + 0.5
    angle = t + arm * math.pi
    points = torch.stack([t * torch.cos(angle), t * torch.sin(angle)], 1) / 6
    return points + torch.randn(n, 2, generator=generator) * 0.04, arm


def main():
    parser = argparse.ArgumentParser(description="Trains a small network on two spirals.")
    parser.add_argument("--steps", type=int, default=3000)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    model = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    points, arm = spirals(2000, generator)
    begin, total = time.perf_counter(), 0.0
    for step in range(1, arguments.steps + 1):
        rows = torch.randint(0, len(points), (64,), generator=generator)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(points[rows]), arm[rows])
        loss.backward()
        optimizer.step()
        total += loss.item()
        if step % 500 == 0:
            print(f"step {step}: loss {total / 500:.4f}", flush=True)
            total = 0.0
    seconds = time.perf_counter() - begin
    test_points, test_arm = spirals(1000, generator)
    with torch.no_grad():
        share = (model(test_points).argmax(1) == test_arm).to(torch.float32).mean().item()
    print(f"test accuracy: {100 * share:.2f} %, {1e6 * seconds / arguments.steps:.0f} us per step")


if __name__ == "__main__":
    main()
