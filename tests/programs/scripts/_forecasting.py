"""Forecasting: N-BEATS blocks and a causal convolution net, quantile losses, windows with a stride, early stopping."""

import argparse
import copy
import json
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm
from torch.utils.data import DataLoader, TensorDataset

QUANTILES = (0.1, 0.5, 0.9)


class GenericBlock(nn.Module):
    def __init__(self, backcast, forecast, width):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(backcast, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.backcast, self.forecast = nn.Linear(width, backcast), nn.Linear(width, forecast * len(QUANTILES))

    def forward(self, x):
        h = self.fc(x)
        return self.backcast(h), self.forecast(h).view(len(x), -1, len(QUANTILES))


class BasisBlock(nn.Module):
    """Writes its forecast in a fixed basis: polynomials for the trend, waves for the season."""

    def __init__(self, backcast, forecast, width, basis):
        super().__init__()
        t = np.arange(-backcast, forecast) / (backcast + forecast)
        if basis == "trend":
            rows = np.stack([t**i for i in range(3)])
        else:
            angles = 2 * np.pi * np.outer(np.arange(1, 6), np.arange(-backcast, forecast) / 12)
            rows = np.concatenate([np.cos(angles), np.sin(angles)])
        rows = torch.tensor(rows, dtype=torch.float32)
        self.register_buffer("past", rows[:, :backcast])
        self.register_buffer("future", rows[:, backcast:])
        self.fc = nn.Sequential(nn.Linear(backcast, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.theta = nn.Linear(width, len(rows) * (1 + len(QUANTILES)))

    def forward(self, x):
        theta = self.theta(self.fc(x)).view(len(x), -1, 1 + len(QUANTILES))
        return theta[..., 0] @ self.past, torch.einsum("bkq,kt->btq", theta[..., 1:], self.future)


class NBeats(nn.Module):
    def __init__(self, backcast, forecast, width=24):
        super().__init__()
        blocks = [BasisBlock(backcast, forecast, width, basis) for basis in ("trend", "season")]
        self.blocks = nn.ModuleList(blocks + [GenericBlock(backcast, forecast, width)])
        self.horizon = forecast

    def forward(self, x):
        forecast = x.new_zeros(len(x), self.horizon, len(QUANTILES))
        for block in self.blocks:
            back, ahead = block(x)
            x, forecast = x - back, forecast + ahead
        return forecast


class Chomp1d(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        return x[:, :, : -self.size].contiguous()


class TemporalBlock(nn.Module):
    def __init__(self, inputs, outputs, kernel, dilation, dropout=0.05):
        super().__init__()
        padding = (kernel - 1) * dilation
        layers = []
        for i, o in ((inputs, outputs), (outputs, outputs)):
            conv = weight_norm(nn.Conv1d(i, o, kernel, padding=padding, dilation=dilation))
            layers += [conv, Chomp1d(padding), nn.ReLU(), nn.Dropout(dropout)]
        self.net = nn.Sequential(*layers)
        self.downsample = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else None

    def forward(self, x):
        residual = x if self.downsample is None else self.downsample(x)
        return F.relu(self.net(x) + residual)


class TCN(nn.Module):
    def __init__(self, horizon, channels=(8, 8, 8), kernel=3):
        super().__init__()
        sizes = [1, *channels]
        self.network = nn.Sequential(
            *[TemporalBlock(a, b, kernel, 2**i) for i, (a, b) in enumerate(zip(sizes, sizes[1:]))]
        )
        self.linear = nn.Linear(channels[-1], horizon * len(QUANTILES))

    def forward(self, x):
        return self.linear(self.network(x.unsqueeze(1))[:, :, -1]).view(len(x), -1, len(QUANTILES))


def pinball(prediction, target, quantiles=torch.tensor(QUANTILES)):
    error = target.unsqueeze(-1) - prediction
    return torch.maximum(quantiles * error, (quantiles - 1) * error).mean()


def series(length, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(length)
    return (
        0.01 * t + np.sin(2 * np.pi * t / 12) + 0.5 * np.sin(2 * np.pi * t / 6) + 0.1 * rng.normal(size=length)
    ).astype(np.float32)


def windows(values, backcast, forecast):
    rows = torch.from_numpy(values).unfold(0, backcast + forecast, 1)
    x, y = rows.split([backcast, forecast], dim=1)
    mean, std = x.mean(1, keepdim=True), x.std(1, keepdim=True)
    return TensorDataset((x - mean) / std, (y - mean) / std)


class EarlyStopping:
    def __init__(self, patience=2, delta=0.0):
        self.patience, self.delta, self.counter, self.best = patience, delta, 0, math.inf

    def __call__(self, loss, model):
        if loss < self.best - self.delta:
            self.best, self.counter, self.state = loss, 0, copy.deepcopy(model.state_dict())
        else:
            self.counter += 1
        return self.counter >= self.patience


def fit(name, model, train, valid, args):
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, eps=1e-5)
    stopping = EarlyStopping(args.patience)
    loader = DataLoader(train, batch_size=args.batch_size, shuffle=True, drop_last=True)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = pinball(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            x, y = valid[:]
            forecast = model(x)
            loss = pinball(forecast, y).item()
            inside = ((y >= forecast[..., 0]) & (y <= forecast[..., 2])).float().mean().item()
        print(f"{name} epoch {epoch} train {total / len(loader):.4f} valid {loss:.4f} inside {inside:.2f}")
        if stopping(loss, model):
            print("Early stopping")
            break
    model.load_state_dict(stopping.state)
    return stopping.best


def main():
    parser = argparse.ArgumentParser()
    for name, default in json.loads(
        '{"epochs": 4, "batch-size": 24, "backcast": 24, "forecast": 6, "patience": 2}'
    ).items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()
    torch.manual_seed(10)
    train, valid = (windows(series(180, seed), args.backcast, args.forecast) for seed in (1, 2))
    scores = {}
    for name, model in (("nbeats", NBeats(args.backcast, args.forecast)), ("tcn", TCN(args.forecast))):
        scores[name] = fit(name, model, train, valid, args)
    print({name: round(score, 3) for name, score in scores.items()}, sum("original0" in k for k in model.state_dict()))


if __name__ == "__main__":
    main()
