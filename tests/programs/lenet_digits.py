# run: --torch
# timeout: 300
"""The main job in small: a LeNet learns drawn digits in a few dozen steps, through captured graphs."""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["TERRA_SOURCE"], "models"))
sys.path.insert(0, os.path.join(os.environ["TERRA_SOURCE"], "models", "lenet"))

import torch  # noqa: E402
from digits.draw import draw_chunk  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402
from train import LeNet, accuracy, train_step  # noqa: E402

torch.manual_seed(0)
generator = torch.Generator().manual_seed(0)


def digits(n):
    labels = torch.arange(n) % 10
    images = draw_chunk(labels, generator).unsqueeze(1).to(torch.float32) / 255
    return TensorDataset((images - 0.13) / 0.31, labels)


model = LeNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
test = DataLoader(digits(500), batch_size=100)
before = accuracy(model, test)
for _ in range(2):
    for x, y in DataLoader(digits(1600), batch_size=32, shuffle=True):
        train_step(model, optimizer, x, y)
after = accuracy(model, test)
assert before < 0.4 and after > 0.85, f"accuracy {before} before training, {after} after"
stats = torch.capture.stats()
assert stats["runs"]["frame"] > 80, stats["runs"]
