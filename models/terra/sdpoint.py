"""Stochastic downsampling: at every step the network shrinks its feature map after another block and by another
ratio, both drawn in Python. There is no one structure: each draw gives other shapes from some block on."""

import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from common import Progress, accuracy, batches, parse, split
from images import KINDS, labelled_images

RATIOS = (0.5, 0.75)


class PreActBlock(nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.bn1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x):
        out = F.relu(self.bn1(x))
        shortcut = x if self.shortcut is None else self.shortcut(out)
        out = self.conv1(out)
        out = self.conv2(F.relu(self.bn2(out)))
        return out + shortcut


class SDPointNet(nn.Module):
    def __init__(self, classes, widths=(16, 16, 32, 32, 64, 64)):
        super().__init__()
        self.conv = nn.Conv2d(3, widths[0], 3, padding=1, bias=False)
        self.blocks = nn.ModuleList()
        inputs = widths[0]
        for outputs in widths:
            self.blocks.append(PreActBlock(inputs, outputs, stride=1 if outputs == inputs else 2))
            inputs = outputs
        self.bn = nn.BatchNorm2d(inputs)
        self.fc = nn.Linear(inputs, classes)

    def sample(self):
        """(the block to shrink after, the ratio); -1 stands for no block."""
        return random.choice(range(-1, len(self.blocks))), random.choice(RATIOS)

    def forward(self, x, point=-1, ratio=1.0):
        x = self.conv(x)
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i == point:
                x = F.adaptive_avg_pool2d(x, round(x.size(2) * ratio))
        x = F.relu(self.bn(x))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


def main(arguments=None, progress=None):
    options = parse("Trains a network with SDPoint.", arguments, 200, "data_batch_small.bin of CIFAR-10")
    progress = progress or Progress(options)
    random.seed(options.seed)
    draw = np.random.default_rng(options.seed)
    train, test = split(256, *labelled_images(draw, options.data))

    model = SDPointNet(len(KINDS))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.02, total_iters=60)
    for step, (x, y) in zip(range(1, options.steps + 1), batches(draw, 24, *train)):
        point, ratio = model.sample()
        loss = F.cross_entropy(model(x, point, ratio), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        progress.step(step, loss)
    print(f"test accuracy without downsampling: {100 * accuracy(model, *test):.1f} %")


if __name__ == "__main__":
    main()
