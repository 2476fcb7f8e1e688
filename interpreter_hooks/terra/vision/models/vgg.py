"""VGG: stacks of 3 x 3 convolutions between poolings, with and without batch normalization."""

import _terra_C as C

from ... import nn
from ._api import builder

__all__ = ["VGG", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn"]

# Channels of the convolutions in order; "M" is a pooling.
cfgs = {
    "A": [64, "M", 128, "M", 256, 256, "M", 512, 512, "M", 512, 512, "M"],
    "B": [64, 64, "M", 128, 128, "M", 256, 256, "M", 512, 512, "M", 512, 512, "M"],
    "D": [64, 64, "M", 128, 128, "M", 256, 256, 256, "M", 512, 512, 512, "M", 512, 512, 512, "M"],
    "E": [64, 64, "M", 128, 128, "M", *[256] * 4, "M", *[512] * 4, "M", *[512] * 4, "M"],
}


class VGG(nn.Module):
    def __init__(self, features, num_classes=1000, init_weights=True, dropout=0.5):
        super().__init__()
        self.features = features
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(True),
            nn.Dropout(p=dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(True),
            nn.Dropout(p=dropout),
            nn.Linear(4096, num_classes),
        )
        if init_weights:
            self._initialize_weights()

    def _initialize_weights(self):
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
                if module.bias is not None:
                    nn.init.constant_(module.bias, 0)
            elif isinstance(module, nn.BatchNorm2d):
                nn.init.constant_(module.weight, 1)
                nn.init.constant_(module.bias, 0)
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, 0, 0.01)
                nn.init.constant_(module.bias, 0)

    def forward(self, x):
        x = self.avgpool(self.features(x))
        return self.classifier(C.flatten(x, 1))


def make_layers(cfg, batch_norm=False):
    layers, channels = [], 3
    for v in cfg:
        if v == "M":
            layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
            continue
        layers.append(nn.Conv2d(channels, v, kernel_size=3, padding=1))
        if batch_norm:
            layers.append(nn.BatchNorm2d(v))
        layers.append(nn.ReLU(inplace=True))
        channels = v
    return nn.Sequential(*layers)


def _vgg(cfg, batch_norm, **kwargs):
    return VGG(make_layers(cfgs[cfg], batch_norm), **kwargs)


def _keep_initial(weights, kwargs):
    kwargs["init_weights"] = False


@builder(prepare=_keep_initial)
def vgg11(**kwargs):
    return _vgg("A", False, **kwargs)


@builder(prepare=_keep_initial)
def vgg11_bn(**kwargs):
    return _vgg("A", True, **kwargs)


@builder(prepare=_keep_initial)
def vgg13(**kwargs):
    return _vgg("B", False, **kwargs)


@builder(prepare=_keep_initial)
def vgg13_bn(**kwargs):
    return _vgg("B", True, **kwargs)


@builder(prepare=_keep_initial)
def vgg16(**kwargs):
    return _vgg("D", False, **kwargs)


@builder(prepare=_keep_initial)
def vgg16_bn(**kwargs):
    return _vgg("D", True, **kwargs)


@builder(prepare=_keep_initial)
def vgg19(**kwargs):
    return _vgg("E", False, **kwargs)


@builder(prepare=_keep_initial)
def vgg19_bn(**kwargs):
    return _vgg("E", True, **kwargs)
