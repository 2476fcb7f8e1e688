"""DenseNet: each layer sees the outputs of all before it."""

import re

import _terra_C as C

from ... import nn
from ...nn import functional as F
from ...utils import checkpoint
from ._api import builder

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201"]


class _DenseLayer(nn.Module):
    """Norm, activation and convolution twice: 1 x 1 to a few channels, 3 x 3 to the new ones."""

    def __init__(self, num_input_features, growth_rate, bn_size, drop_rate, memory_efficient=False):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(num_input_features)
        self.relu1 = nn.ReLU(inplace=True)
        self.conv1 = nn.Conv2d(num_input_features, bn_size * growth_rate, kernel_size=1, stride=1, bias=False)
        self.norm2 = nn.BatchNorm2d(bn_size * growth_rate)
        self.relu2 = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(bn_size * growth_rate, growth_rate, kernel_size=3, stride=1, padding=1, bias=False)
        self.drop_rate = float(drop_rate)
        self.memory_efficient = memory_efficient

    def bn_function(self, inputs):
        return self.conv1(self.relu1(self.norm1(C.cat(inputs, 1))))

    def forward(self, input):
        inputs = [input] if isinstance(input, C.Tensor) else input
        if self.memory_efficient and any(tensor.requires_grad for tensor in inputs):
            narrow = checkpoint.checkpoint(lambda *tensors: self.bn_function(tensors), *inputs, use_reentrant=False)
        else:
            narrow = self.bn_function(inputs)
        new = self.conv2(self.relu2(self.norm2(narrow)))
        return F.dropout(new, p=self.drop_rate, training=self.training) if self.drop_rate > 0 else new


class _DenseBlock(nn.ModuleDict):
    _version = 2

    def __init__(self, num_layers, num_input_features, bn_size, growth_rate, drop_rate, memory_efficient=False):
        super().__init__()
        for i in range(num_layers):
            layer = _DenseLayer(num_input_features + i * growth_rate, growth_rate, bn_size, drop_rate, memory_efficient)
            self.add_module(f"denselayer{i + 1}", layer)

    def forward(self, init_features):
        features = [init_features]
        for layer in self.values():
            features.append(layer(features))
        return C.cat(features, 1)


class _Transition(nn.Sequential):
    """Between blocks: 1 x 1 to fewer channels, a quarter of the pixels."""

    def __init__(self, num_input_features, num_output_features):
        super().__init__()
        self.norm = nn.BatchNorm2d(num_input_features)
        self.relu = nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(num_input_features, num_output_features, kernel_size=1, stride=1, bias=False)
        self.pool = nn.AvgPool2d(kernel_size=2, stride=2)


class DenseNet(nn.Module):
    def __init__(
        self, growth_rate=32, block_config=(6, 12, 24, 16), num_init_features=64, bn_size=4, drop_rate=0,
        num_classes=1000, memory_efficient=False,
    ):  # fmt: skip
        super().__init__()
        self.features = nn.Sequential()
        self.features.add_module(
            "conv0", nn.Conv2d(3, num_init_features, kernel_size=7, stride=2, padding=3, bias=False)
        )
        self.features.add_module("norm0", nn.BatchNorm2d(num_init_features))
        self.features.add_module("relu0", nn.ReLU(inplace=True))
        self.features.add_module("pool0", nn.MaxPool2d(kernel_size=3, stride=2, padding=1))
        channels = num_init_features
        for i, num_layers in enumerate(block_config):
            block = _DenseBlock(num_layers, channels, bn_size, growth_rate, drop_rate, memory_efficient)
            self.features.add_module(f"denseblock{i + 1}", block)
            channels += num_layers * growth_rate
            if i != len(block_config) - 1:
                self.features.add_module(f"transition{i + 1}", _Transition(channels, channels // 2))
                channels //= 2
        self.features.add_module("norm5", nn.BatchNorm2d(channels))
        self.classifier = nn.Linear(channels, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)
            elif isinstance(module, nn.BatchNorm2d):
                nn.init.constant_(module.weight, 1)
                nn.init.constant_(module.bias, 0)
            elif isinstance(module, nn.Linear):
                nn.init.constant_(module.bias, 0)

    def forward(self, x):
        features = F.relu(self.features(x), inplace=True)
        return self.classifier(C.flatten(F.adaptive_avg_pool2d(features, (1, 1)), 1))


def _renamed(key):
    """The files of DenseNet still say denselayer1.norm.1.weight for denselayer1.norm1.weight."""
    return re.sub(r"(denselayer\d+\.(?:norm|relu|conv))\.(\d\.)", r"\1\2", key)


@builder(renamed=_renamed)
def densenet121(**kwargs):
    return DenseNet(32, (6, 12, 24, 16), 64, **kwargs)


@builder(renamed=_renamed)
def densenet161(**kwargs):
    return DenseNet(48, (6, 12, 36, 24), 96, **kwargs)


@builder(renamed=_renamed)
def densenet169(**kwargs):
    return DenseNet(32, (6, 12, 32, 32), 64, **kwargs)


@builder(renamed=_renamed)
def densenet201(**kwargs):
    return DenseNet(32, (6, 12, 48, 32), 64, **kwargs)
