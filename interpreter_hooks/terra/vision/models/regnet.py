"""RegNet: networks whose widths follow one line, quantized; Y has squeeze and excitation, X has not."""

import math
from collections import OrderedDict
from functools import partial

from ... import nn
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ._api import builder
from ._utils import _make_divisible

__all__ = [
    "RegNet", "regnet_x_16gf", "regnet_x_1_6gf", "regnet_x_32gf", "regnet_x_3_2gf", "regnet_x_400mf", "regnet_x_800mf",
    "regnet_x_8gf", "regnet_y_128gf", "regnet_y_16gf", "regnet_y_1_6gf", "regnet_y_32gf", "regnet_y_3_2gf",
    "regnet_y_400mf", "regnet_y_800mf", "regnet_y_8gf",
]  # fmt: skip


class SimpleStemIN(Conv2dNormActivation):
    """3 x 3, stride 2."""

    def __init__(self, width_in, width_out, norm_layer, activation_layer):
        super().__init__(
            width_in, width_out, kernel_size=3, stride=2, norm_layer=norm_layer, activation_layer=activation_layer
        )


class BottleneckTransform(nn.Sequential):
    """1 x 1, 3 x 3 in groups, perhaps squeeze and excitation, 1 x 1."""

    def __init__(
        self, width_in, width_out, stride, norm_layer, activation_layer, group_width, bottleneck_multiplier, se_ratio
    ):
        inner = int(round(width_out * bottleneck_multiplier))
        options = {"norm_layer": norm_layer, "activation_layer": activation_layer}
        layers = OrderedDict()
        layers["a"] = Conv2dNormActivation(width_in, inner, kernel_size=1, stride=1, **options)
        layers["b"] = Conv2dNormActivation(
            inner, inner, kernel_size=3, stride=stride, groups=inner // group_width, **options
        )
        if se_ratio:  # of the block's input, not of what is squeezed
            layers["se"] = SqueezeExcitation(inner, int(round(se_ratio * width_in)), activation=activation_layer)
        layers["c"] = Conv2dNormActivation(
            inner, width_out, kernel_size=1, stride=1, norm_layer=norm_layer, activation_layer=None
        )
        super().__init__(layers)


class ResBottleneckBlock(nn.Module):
    def __init__(
        self, width_in, width_out, stride, norm_layer, activation_layer, group_width=1, bottleneck_multiplier=1.0,
        se_ratio=None,
    ):  # fmt: skip
        super().__init__()
        self.proj = None
        if width_in != width_out or stride != 1:
            self.proj = Conv2dNormActivation(
                width_in, width_out, kernel_size=1, stride=stride, norm_layer=norm_layer, activation_layer=None
            )
        self.f = BottleneckTransform(
            width_in, width_out, stride, norm_layer, activation_layer, group_width, bottleneck_multiplier, se_ratio
        )
        self.activation = activation_layer(inplace=True)

    def forward(self, x):
        shortcut = x if self.proj is None else self.proj(x)
        return self.activation(shortcut + self.f(x))


class AnyStage(nn.Sequential):
    """Equal blocks, the first of which strides."""

    def __init__(
        self, width_in, width_out, stride, depth, block_constructor, norm_layer, activation_layer, group_width,
        bottleneck_multiplier, se_ratio=None, stage_index=0,
    ):  # fmt: skip
        super().__init__()
        for i in range(depth):
            block = block_constructor(
                width_in if i == 0 else width_out, width_out, stride if i == 0 else 1, norm_layer, activation_layer,
                group_width, bottleneck_multiplier, se_ratio,
            )  # fmt: skip
            self.add_module(f"block{stage_index}-{i}", block)


class BlockParams:
    """Depths, widths, widths of groups, bottlenecks and strides of the stages."""

    def __init__(self, depths, widths, group_widths, bottleneck_multipliers, strides, se_ratio=None):
        self.depths = depths
        self.widths = widths
        self.group_widths = group_widths
        self.bottleneck_multipliers = bottleneck_multipliers
        self.strides = strides
        self.se_ratio = se_ratio

    @classmethod
    def from_init_params(cls, depth, w_0, w_a, w_m, group_width, bottleneck_multiplier=1.0, se_ratio=None, **kwargs):
        """Block i is to have w_0 + i * w_a channels; that is rounded to w_0 * w_m**n, then to multiples of 8. Runs of
        equal widths are the stages."""
        if w_a < 0 or w_0 <= 0 or w_m <= 1 or w_0 % 8 != 0:
            raise ValueError("Invalid RegNet settings")
        line = [w_0 + i * w_a for i in range(depth)]
        powers = [round(math.log(width / w_0) / math.log(w_m)) for width in line]
        widths = [int(round(w_0 * w_m**power / 8) * 8) for power in powers]
        stages = sorted(set(widths))
        depths = [widths.count(width) for width in stages]
        stages, groups = cls._compatible(stages, [bottleneck_multiplier] * len(stages), [group_width] * len(stages))
        return cls(depths, stages, groups, [bottleneck_multiplier] * len(stages), [2] * len(stages), se_ratio)

    @staticmethod
    def _compatible(widths, bottlenecks, group_widths):
        """Widths that the widths of groups divide."""
        inner = [int(width * b) for width, b in zip(widths, bottlenecks)]
        groups = [min(group, width) for group, width in zip(group_widths, inner)]
        inner = [_make_divisible(width, group) for width, group in zip(inner, groups)]
        return [int(width / b) for width, b in zip(inner, bottlenecks)], groups

    def _get_expanded_params(self):
        return zip(self.widths, self.strides, self.depths, self.group_widths, self.bottleneck_multipliers)


class RegNet(nn.Module):
    def __init__(
        self, block_params, num_classes=1000, stem_width=32, stem_type=None, block_type=None, norm_layer=None,
        activation=None,
    ):  # fmt: skip
        super().__init__()
        stem_type = SimpleStemIN if stem_type is None else stem_type
        norm_layer = nn.BatchNorm2d if norm_layer is None else norm_layer
        block_type = ResBottleneckBlock if block_type is None else block_type
        activation = nn.ReLU if activation is None else activation
        self.stem = stem_type(3, stem_width, norm_layer, activation)
        stages, channels = [], stem_width
        for i, (width, stride, depth, group_width, bottleneck) in enumerate(block_params._get_expanded_params(), 1):
            stage = AnyStage(
                channels, width, stride, depth, block_type, norm_layer, activation, group_width, bottleneck,
                block_params.se_ratio, stage_index=i,
            )  # fmt: skip
            stages.append((f"block{i}", stage))
            channels = width
        self.trunk_output = nn.Sequential(OrderedDict(stages))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(channels, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                outputs = module.kernel_size[0] * module.kernel_size[1] * module.out_channels
                nn.init.normal_(module.weight, mean=0.0, std=math.sqrt(2.0 / outputs))
            elif isinstance(module, nn.BatchNorm2d):
                nn.init.ones_(module.weight)
                nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, mean=0.0, std=0.01)
                nn.init.zeros_(module.bias)

    def forward(self, x):
        x = self.avgpool(self.trunk_output(self.stem(x)))
        return self.fc(x.flatten(start_dim=1))


def _regnet(kwargs, depth, w_0, w_a, w_m, group_width, se_ratio=None):
    params = BlockParams.from_init_params(depth, w_0, w_a, w_m, group_width, se_ratio=se_ratio)
    norm_layer = partial(nn.BatchNorm2d, eps=1e-05, momentum=0.1)
    return RegNet(params, **{"norm_layer": norm_layer, **kwargs})


_y = partial(_regnet, se_ratio=0.25)
_x = _regnet


@builder
def regnet_y_400mf(**kwargs):
    return _y(kwargs, 16, 48, 27.89, 2.09, 8)


@builder
def regnet_y_800mf(**kwargs):
    return _y(kwargs, 14, 56, 38.84, 2.4, 16)


@builder
def regnet_y_1_6gf(**kwargs):
    return _y(kwargs, 27, 48, 20.71, 2.65, 24)


@builder
def regnet_y_3_2gf(**kwargs):
    return _y(kwargs, 21, 80, 42.63, 2.66, 24)


@builder
def regnet_y_8gf(**kwargs):
    return _y(kwargs, 17, 192, 76.82, 2.19, 56)


@builder
def regnet_y_16gf(**kwargs):
    return _y(kwargs, 18, 200, 106.23, 2.48, 112)


@builder
def regnet_y_32gf(**kwargs):
    return _y(kwargs, 20, 232, 115.89, 2.53, 232)


@builder
def regnet_y_128gf(**kwargs):
    return _y(kwargs, 27, 456, 160.83, 2.52, 264)


@builder
def regnet_x_400mf(**kwargs):
    return _x(kwargs, 22, 24, 24.48, 2.54, 16)


@builder
def regnet_x_800mf(**kwargs):
    return _x(kwargs, 16, 56, 35.73, 2.28, 16)


@builder
def regnet_x_1_6gf(**kwargs):
    return _x(kwargs, 18, 80, 34.01, 2.25, 24)


@builder
def regnet_x_3_2gf(**kwargs):
    return _x(kwargs, 25, 88, 26.31, 2.25, 48)


@builder
def regnet_x_8gf(**kwargs):
    return _x(kwargs, 23, 80, 49.56, 2.88, 120)


@builder
def regnet_x_16gf(**kwargs):
    return _x(kwargs, 22, 216, 55.59, 2.1, 128)


@builder
def regnet_x_32gf(**kwargs):
    return _x(kwargs, 23, 320, 69.86, 2.0, 168)
