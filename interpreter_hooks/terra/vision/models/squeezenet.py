"""SqueezeNet."""

import _terra_C as C

from ... import nn
from ._api import builder

__all__ = ["SqueezeNet", "squeezenet1_0", "squeezenet1_1"]


class Fire(nn.Module):
    """Few channels, then 1 x 1 and 3 x 3 convolutions of them side by side."""

    def __init__(self, inplanes, squeeze_planes, expand1x1_planes, expand3x3_planes):
        super().__init__()
        self.inplanes = inplanes
        self.squeeze = nn.Conv2d(inplanes, squeeze_planes, kernel_size=1)
        self.squeeze_activation = nn.ReLU(inplace=True)
        self.expand1x1 = nn.Conv2d(squeeze_planes, expand1x1_planes, kernel_size=1)
        self.expand1x1_activation = nn.ReLU(inplace=True)
        self.expand3x3 = nn.Conv2d(squeeze_planes, expand3x3_planes, kernel_size=3, padding=1)
        self.expand3x3_activation = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.squeeze_activation(self.squeeze(x))
        return C.cat([self.expand1x1_activation(self.expand1x1(x)), self.expand3x3_activation(self.expand3x3(x))], 1)


# version -> the stem's channels and kernel, then Fire's channels (in, squeezed, each half); "M" is a pooling
VERSIONS = {
    "1_0": (
        (96, 7), "M", (96, 16, 64), (128, 16, 64), (128, 32, 128), "M", (256, 32, 128), (256, 48, 192), (384, 48, 192),
        (384, 64, 256), "M", (512, 64, 256),
    ),
    "1_1": (
        (64, 3), "M", (64, 16, 64), (128, 16, 64), "M", (128, 32, 128), (256, 32, 128), "M", (256, 48, 192),
        (384, 48, 192), (384, 64, 256), (512, 64, 256),
    ),
}  # fmt: skip


class SqueezeNet(nn.Module):
    def __init__(self, version="1_0", num_classes=1000, dropout=0.5):
        super().__init__()
        if version not in VERSIONS:
            raise ValueError(f"Unsupported SqueezeNet version {version}: 1_0 or 1_1 expected")
        self.num_classes = num_classes
        (channels, kernel), *rest = VERSIONS[version]
        layers = [nn.Conv2d(3, channels, kernel_size=kernel, stride=2), nn.ReLU(inplace=True)]
        for layer in rest:
            if layer == "M":
                layers.append(nn.MaxPool2d(kernel_size=3, stride=2, ceil_mode=True))
            else:
                layers.append(Fire(*layer, layer[-1]))
        self.features = nn.Sequential(*layers)
        final_conv = nn.Conv2d(512, num_classes, kernel_size=1)
        self.classifier = nn.Sequential(
            nn.Dropout(p=dropout), final_conv, nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1))
        )
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                if module is final_conv:
                    nn.init.normal_(module.weight, mean=0.0, std=0.01)
                else:
                    nn.init.kaiming_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.constant_(module.bias, 0)

    def forward(self, x):
        return C.flatten(self.classifier(self.features(x)), 1)


@builder
def squeezenet1_0(**kwargs):
    return SqueezeNet("1_0", **kwargs)


@builder
def squeezenet1_1(**kwargs):
    return SqueezeNet("1_1", **kwargs)
