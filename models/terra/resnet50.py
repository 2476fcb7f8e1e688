"""ResNet-50 with its sixteen bottlenecks, narrow and on small images. Plain code that converts as it is: what counts
here is that a long step of many small operations loses nothing, and that the running statistics stay exact."""

import numpy as np
import torch
from torch import nn

from common import Progress, accuracy, batches, parse, split
from images import KINDS, labelled_images


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inplanes, planes, stride=1, downsample=None):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, planes * self.expansion, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(planes * self.expansion)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = downsample

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self, layers, classes, width):
        super().__init__()
        self.inplanes = width
        self.conv1 = nn.Conv2d(3, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = self.make_layer(width, layers[0])
        self.layer2 = self.make_layer(width * 2, layers[1], stride=2)
        self.layer3 = self.make_layer(width * 4, layers[2], stride=2)
        self.layer4 = self.make_layer(width * 8, layers[3], stride=2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(width * 8 * Bottleneck.expansion, classes)

        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, Bottleneck):
                nn.init.zeros_(module.bn3.weight)

    def make_layer(self, planes, blocks, stride=1):
        outputs = planes * Bottleneck.expansion
        downsample = nn.Sequential(nn.Conv2d(self.inplanes, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
        layers = [Bottleneck(self.inplanes, planes, stride, downsample)]
        self.inplanes = outputs
        layers += [Bottleneck(outputs, planes) for _ in range(1, blocks)]
        return nn.Sequential(*layers)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def resnet50(classes, width):
    return ResNet([3, 4, 6, 3], classes, width)


def main(arguments=None, progress=None):
    options = parse("Trains a narrow ResNet-50.", arguments, 200, "data_batch_small.bin of CIFAR-10")
    progress = progress or Progress(options)
    draw = np.random.default_rng(options.seed)
    train, test = split(256, *labelled_images(draw, options.data))

    model = resnet50(len(KINDS), width=16)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=max(1, options.steps // 3), gamma=0.3)
    for step, (images, target) in zip(range(1, options.steps + 1), batches(draw, 16, *train)):
        output = model(images)
        loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        progress.step(step, loss)
    print(f"test accuracy: {100 * accuracy(model, *test):.1f} %")


if __name__ == "__main__":
    main()
