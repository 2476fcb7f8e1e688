# run: --torch TERRA_EXACT=1 TERRA_RUNNER=beside
# run: --torch TERRA_EXACT=1 TERRA_RUNNER=turns
"""Ten thousand iterations that go one of several ways at random: as in plain execution, and in bounded memory."""
import random

import torch
from torch import nn
from torch.nn import functional as F

from _harness import compare, counts, run_tests

ITERATIONS, GROWTH = 10_000, 24 << 20  # bytes, from a quarter of the way on


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def training():
    choose = random.Random(3)
    body = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
    head, gate = nn.Linear(8, 3), nn.Linear(8, 8)
    parameters = [*body.parameters(), *head.parameters(), *gate.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
    said, kept, early = [], [], 0
    for iteration in range(ITERATIONS):
        x, y = torch.randn(choose.choice((4, 4, 4, 6)), 8), None
        h = x
        for layer in list(body)[: choose.randint(1, 3)]:
            h = torch.tanh(layer(h))
        if choose.random() < 0.3:
            h = h * torch.sigmoid(gate(x))
        if choose.random() < 0.2:
            h = F.dropout(h, 0.2)
        y = torch.randint(3, (len(x),))
        loss = F.cross_entropy(head(h), y)
        if choose.random() < 0.1:
            loss = loss + 1e-3 * sum(p.square().sum() for p in parameters)
        loss.backward()
        if choose.random() < 0.05:
            said.append(loss.item())
        elif choose.random() < 0.5:
            kept.append(loss.detach())
        if choose.random() < 0.7:
            if choose.random() < 0.1:
                nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            optimizer.zero_grad()
        if len(kept) == 50:
            said.append(sum(t.item() for t in kept))
            kept.clear()
        if iteration % 1000 == 999:
            said.append([p.sum().item() for p in parameters])
        if iteration == ITERATIONS // 4:
            early = resident()
    grown = resident() - early
    return said + [grown < GROWTH or f"memory has grown by {grown >> 20} MB"]


def soak():
    compare(training, iterations=100, divergences=2)
    assert counts()["iterations"] > 0.9 * ITERATIONS, counts()


run_tests([soak])
