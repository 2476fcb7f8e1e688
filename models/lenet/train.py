"""LeNet on 28 x 28 digits: ordinary PyTorch code.

    terra-run --torch models/lenet/train.py [--data FOLDER] [--epochs N] [--seed N] [--save FILE]

Without --data it trains on digits that it draws itself (models/digits), with it on the MNIST idx files in FOLDER."""

import argparse
import copy
import pathlib
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchvision.datasets import MNIST

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from digits import digits_folder  # noqa: E402


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 5, padding=2)
        self.conv2 = nn.Conv2d(32, 64, 5, padding=2)
        self.fc1 = nn.Linear(7 * 7 * 64, 512)
        self.fc2 = nn.Linear(512, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        return self.fc2(F.relu(self.fc1(x)))


def train_step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


def accuracy(model, loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in loader:
            correct += (model(x).argmax(1) == y).sum().item()
    model.train()
    return correct / len(loader.dataset)


def load(folder, train):
    part = MNIST(folder, train=train)
    images = part.data.unsqueeze(1).to(torch.float32) / 255
    return TensorDataset((images - 0.1307) / 0.3081, part.targets)


def train(model, optimizer, scheduler, train_loader, test_loader, epochs):
    for epoch in range(1, epochs + 1):
        begin, total, steps = time.perf_counter(), 0.0, 0
        for x, y in train_loader:
            total += train_step(model, optimizer, x, y).item()
            steps += 1
        scheduler.step()
        seconds = time.perf_counter() - begin
        share = accuracy(model, test_loader)
        print(
            f"epoch {epoch}/{epochs}: loss {total / steps:.4f}, test accuracy {100 * share:.2f} %, "
            f"{steps} steps in {seconds:.1f} s",
            flush=True,
        )
    return share


def seconds_per_step(step, blocks=5, steps=6):
    """The median over blocks of the mean over steps."""
    means = []
    for _ in range(blocks):
        begin = time.perf_counter()
        for _ in range(steps):
            step()
        means.append((time.perf_counter() - begin) / steps)
    return statistics.median(means)


def report_capture(model, optimizer_of, batch):
    """Times a copy of the model with and without capture, and says what was captured."""
    from torch import capture

    model = copy.deepcopy(model)
    optimizer = optimizer_of(model)

    def step():
        train_step(model, optimizer, *batch).item()

    for _ in range(12):
        step()
    captured = seconds_per_step(step)
    with capture.mode("off"):
        step()
        eager = seconds_per_step(step)
    print(f"time per step: captured {1e3 * captured:.2f} ms, eager {1e3 * eager:.2f} ms")
    stats = capture.stats()
    ops, runs = stats["ops"], stats["runs"]
    print(
        f"captured: {stats['captures']} graphs, {runs['frame']} graph runs, {ops['graph']} ops in graphs, "
        f"{ops['eager']} ops outside, {stats['misses']} misses, {stats['fallbacks']} fallbacks, "
        f"{stats['capture_ms']:.1f} ms spent on capture"
    )


def main():
    parser = argparse.ArgumentParser(description="Trains LeNet on digits.")
    parser.add_argument("--data", help="folder with the MNIST idx files, plain or .gz (default: drawn digits)")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="file for the trained parameters")
    arguments = parser.parse_args()

    torch.manual_seed(arguments.seed)
    folder = arguments.data or digits_folder(say=lambda text: print(text, flush=True))
    train_set, test_set = load(folder, train=True), load(folder, train=False)
    print(f"{len(train_set)} training and {len(test_set)} test images from {folder}", flush=True)

    def optimizer_of(model):
        return torch.optim.SGD(model.parameters(), lr=arguments.lr, momentum=0.9)

    model = LeNet()
    optimizer = optimizer_of(model)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.4)
    train_loader = DataLoader(train_set, batch_size=arguments.batch, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=500)
    share = train(model, optimizer, scheduler, train_loader, test_loader, arguments.epochs)
    print(f"test accuracy: {100 * share:.2f} %")
    if arguments.save:
        torch.save(model.state_dict(), arguments.save)
    if hasattr(torch, "capture"):
        batch = next(iter(train_loader))
        report_capture(model, optimizer_of, batch)


if __name__ == "__main__":
    main()
