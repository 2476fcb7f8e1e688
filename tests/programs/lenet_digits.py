# run: --torch
# run: --torch TERRA_EXACT=1
# timeout: 300
"""The main job in small: a LeNet learns drawn digits in a few dozen steps. In exact mode, where no clock decides what is
captured, nearly every step runs as graphs."""

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
if os.environ.get("TERRA_EXACT") == "1":
    runs = torch.capture.stats()["runs"]
    assert runs["frame"] > 200, runs
