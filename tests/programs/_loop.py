"""The plain module-level loop, as scripts have it. Prints every loss without rounding."""

import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
images = torch.rand(72, 1, 12, 12)
labels = (images.mean((1, 2, 3)) * 1000).long() % 4
loader = DataLoader(TensorDataset(images, labels), batch_size=16, shuffle=True)
model = nn.Sequential(
    nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.1),
    nn.Linear(144, 4),
)  # fmt: skip
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
for epoch in range(4):
    total = 0.0
    model.train()
    for x, y in loader:
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        right = (model(images).argmax(1) == labels).sum().item()
    print(epoch, total.hex(), right, flush=True)
for name, value in model.state_dict().items():
    print(name, float(value.double().sum()).hex())
if len(sys.argv) > 1:
    torch.save(model.state_dict(), sys.argv[1])
