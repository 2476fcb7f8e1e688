"""MobileNet, version 2: inverted residuals of depthwise convolutions."""

from ... import nn
from ...nn import functional as F
from ..ops.misc import Conv2dNormActivation
from ._api import builder
from ._utils import _make_divisible, initialize_convolutions, initialize_linear

__all__ = ["MobileNetV2", "mobilenet_v2"]

# expansion, channels, blocks, stride of the first
SETTINGS = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
)  # fmt: skip


class InvertedResidual(nn.Module):
    """1 x 1 to more channels, 3 x 3 in each channel, 1 x 1 to fewer; beside a shortcut where the shape is kept."""

    def __init__(self, inp, oup, stride, expand_ratio, norm_layer=None):
        super().__init__()
        if stride not in (1, 2):
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        norm_layer = nn.BatchNorm2d if norm_layer is None else norm_layer
        self.stride = stride
        hidden = int(round(inp * expand_ratio))
        self.use_res_connect = stride == 1 and inp == oup
        options = {"norm_layer": norm_layer, "activation_layer": nn.ReLU6}
        layers = [] if expand_ratio == 1 else [Conv2dNormActivation(inp, hidden, kernel_size=1, **options)]
        layers += [
            Conv2dNormActivation(hidden, hidden, stride=stride, groups=hidden, **options),
            nn.Conv2d(hidden, oup, 1, 1, 0, bias=False),
            norm_layer(oup),
        ]
        self.conv = nn.Sequential(*layers)
        self.out_channels = oup
        self._is_cn = stride > 1

    def forward(self, x):
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class MobileNetV2(nn.Module):
    def __init__(
        self, num_classes=1000, width_mult=1.0, inverted_residual_setting=None, round_nearest=8, block=None,
        norm_layer=None,
        dropout=0.2,
    ):  # fmt: skip
        super().__init__()
        block = InvertedResidual if block is None else block
        norm_layer = nn.BatchNorm2d if norm_layer is None else norm_layer
        settings = SETTINGS if inverted_residual_setting is None else inverted_residual_setting
        if len(settings) == 0 or len(settings[0]) != 4:
            raise ValueError(
                f"inverted_residual_setting should be non-empty or a 4-element list, got {inverted_residual_setting}"
            )
        channels = _make_divisible(32 * width_mult, round_nearest)
        self.last_channel = _make_divisible(1280 * max(1.0, width_mult), round_nearest)
        options = {"norm_layer": norm_layer, "activation_layer": nn.ReLU6}
        features = [Conv2dNormActivation(3, channels, stride=2, **options)]
        for expansion, width, count, stride in settings:
            out = _make_divisible(width * width_mult, round_nearest)
            for i in range(count):
                features.append(
                    block(channels, out, stride if i == 0 else 1, expand_ratio=expansion, norm_layer=norm_layer)
                )
                channels = out
        features.append(Conv2dNormActivation(channels, self.last_channel, kernel_size=1, **options))
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout), nn.Linear(self.last_channel, num_classes))
        initialize_convolutions(self)
        initialize_linear(self)

    def forward(self, x):
        x = F.adaptive_avg_pool2d(self.features(x), (1, 1))
        return self.classifier(x.flatten(1))


@builder
def mobilenet_v2(**kwargs):
    return MobileNetV2(**kwargs)
