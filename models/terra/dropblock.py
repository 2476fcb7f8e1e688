"""A residual network with DropBlock on images. The probability to drop is an attribute that a schedule changes at
every step, and at probability 0 the layer is skipped: a graph that was built at one step is wrong at the next."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from common import Progress, accuracy, batches, parse, split
from images import KINDS, labelled_images


class DropBlock2d(nn.Module):
    """Drops squares of the feature map, the same for all channels."""

    def __init__(self, probability, block):
        super().__init__()
        self.probability, self.block = probability, block

    def forward(self, x):
        if not self.training or self.probability == 0:
            return x
        seeds = (torch.rand(x.size(0), 1, x.size(2), x.size(3)) < self.probability / self.block**2).float()
        dropped = F.max_pool2d(seeds, self.block, stride=1, padding=self.block // 2)
        if self.block % 2 == 0:
            dropped = dropped[:, :, :-1, :-1]
        kept = 1 - dropped
        return x * kept * kept.numel() / kept.sum()


class LinearScheduler(nn.Module):
    def __init__(self, dropblock, start, stop, steps):
        super().__init__()
        self.dropblock = dropblock
        self.values = np.linspace(start, stop, steps)
        self.at = 0

    def forward(self, x):
        return self.dropblock(x)

    def step(self):
        if self.at < len(self.values):
            self.dropblock.probability = self.values[self.at]
        self.at += 1


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return F.relu(out + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self, classes, width=16, blocks=(1, 1, 1), drop=0.15, block=3, steps=100):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        self.dropblock = LinearScheduler(DropBlock2d(0.0, block), 0.0, drop, steps)
        self.stages = nn.ModuleList()
        inputs = width
        for i, count in enumerate(blocks):
            outputs = width * 2**i
            layers = [BasicBlock(inputs, outputs, stride=2 if i else 1)]
            layers += [BasicBlock(outputs, outputs, stride=1) for _ in range(count - 1)]
            self.stages.append(nn.Sequential(*layers))
            inputs = outputs
        self.fc = nn.Linear(inputs, classes)

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages[:-1]:
            x = self.dropblock(stage(x))
        x = self.stages[-1](x)
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


def main(arguments=None, progress=None):
    options = parse("Trains a residual network with DropBlock.", arguments, 200, "data_batch_small.bin of CIFAR-10")
    progress = progress or Progress(options)
    draw = np.random.default_rng(options.seed)
    train, test = split(256, *labelled_images(draw, options.data))

    model = ResNet(len(KINDS), steps=options.steps // 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.02, total_iters=60)
    losses = []
    for step, (x, y) in zip(range(1, options.steps + 1), batches(draw, 32, *train)):
        model.dropblock.step()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.detach())
        progress.step(step, loss)
    print(f"mean loss of the last steps {torch.stack(losses[-20:]).mean().item():.4f}")
    print(f"test accuracy: {100 * accuracy(model, *test):.1f} %")


if __name__ == "__main__":
    main()
