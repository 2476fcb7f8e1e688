"""EfficientNet, versions 1 and 2."""

import copy
import math
from functools import partial

import _terra_C as C

from ... import nn
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ..ops.stochastic_depth import StochasticDepth
from ._api import builder
from ._utils import _make_divisible, initialize_convolutions

__all__ = [
    "EfficientNet", "efficientnet_b0", "efficientnet_b1", "efficientnet_b2", "efficientnet_b3", "efficientnet_b4",
    "efficientnet_b5", "efficientnet_b6", "efficientnet_b7", "efficientnet_v2_l", "efficientnet_v2_m",
    "efficientnet_v2_s",
]  # fmt: skip


class _MBConvConfig:
    """A stage of equal blocks: expansion, kernel, stride of the first, channels in and out, how many, of what class."""

    def __init__(self, expand_ratio, kernel, stride, input_channels, out_channels, num_layers, block):
        self.expand_ratio = expand_ratio
        self.kernel = kernel
        self.stride = stride
        self.input_channels = input_channels
        self.out_channels = out_channels
        self.num_layers = num_layers
        self.block = block

    @staticmethod
    def adjust_channels(channels, width_mult, min_value=None):
        return _make_divisible(channels * width_mult, 8, min_value)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v}' for k, v in vars(self).items())})"


class MBConvConfig(_MBConvConfig):
    def __init__(
        self, expand_ratio, kernel, stride, input_channels, out_channels, num_layers, width_mult=1.0, depth_mult=1.0,
        block=None,
    ):  # fmt: skip
        super().__init__(
            expand_ratio, kernel, stride, self.adjust_channels(input_channels, width_mult),
            self.adjust_channels(out_channels, width_mult), self.adjust_depth(num_layers, depth_mult),
            MBConv if block is None else block,
        )  # fmt: skip

    @staticmethod
    def adjust_depth(num_layers, depth_mult):
        return int(math.ceil(num_layers * depth_mult))


class FusedMBConvConfig(_MBConvConfig):
    def __init__(self, expand_ratio, kernel, stride, input_channels, out_channels, num_layers, block=None):
        block = FusedMBConv if block is None else block
        super().__init__(expand_ratio, kernel, stride, input_channels, out_channels, num_layers, block)


class _Residual(nn.Module):
    """Layers beside a shortcut where the shape is kept, left out at random in training."""

    def __init__(self, cnf, stochastic_depth_prob, layers):
        super().__init__()
        if not 1 <= cnf.stride <= 2:
            raise ValueError("illegal stride value")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        self.block = nn.Sequential(*layers)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.out_channels = cnf.out_channels

    def forward(self, input):
        result = self.block(input)
        if self.use_res_connect:
            result = self.stochastic_depth(result)
            result += input
        return result


class MBConv(_Residual):
    """1 x 1 to more channels, a convolution in each channel, squeeze and excitation, 1 x 1 to the new channels."""

    def __init__(self, cnf, stochastic_depth_prob, norm_layer, se_layer=SqueezeExcitation):
        options = {"norm_layer": norm_layer, "activation_layer": nn.SiLU}
        inner = cnf.adjust_channels(cnf.input_channels, cnf.expand_ratio)
        layers = []
        if inner != cnf.input_channels:
            layers.append(Conv2dNormActivation(cnf.input_channels, inner, kernel_size=1, **options))
        layers.append(
            Conv2dNormActivation(inner, inner, kernel_size=cnf.kernel, stride=cnf.stride, groups=inner, **options)
        )
        layers.append(se_layer(inner, max(1, cnf.input_channels // 4), activation=partial(nn.SiLU, inplace=True)))
        layers.append(
            Conv2dNormActivation(inner, cnf.out_channels, kernel_size=1, norm_layer=norm_layer, activation_layer=None)
        )
        super().__init__(cnf, stochastic_depth_prob, layers)


class FusedMBConv(_Residual):
    """As MBConv, with the first two convolutions as one, and nothing squeezed."""

    def __init__(self, cnf, stochastic_depth_prob, norm_layer):
        options = {"norm_layer": norm_layer, "activation_layer": nn.SiLU}
        inner = cnf.adjust_channels(cnf.input_channels, cnf.expand_ratio)
        first = {"kernel_size": cnf.kernel, "stride": cnf.stride, **options}
        if inner != cnf.input_channels:
            layers = [
                Conv2dNormActivation(cnf.input_channels, inner, **first),
                Conv2dNormActivation(
                    inner, cnf.out_channels, kernel_size=1, norm_layer=norm_layer, activation_layer=None
                ),
            ]
        else:
            layers = [Conv2dNormActivation(cnf.input_channels, cnf.out_channels, **first)]
        super().__init__(cnf, stochastic_depth_prob, layers)


class EfficientNet(nn.Module):
    def __init__(
        self, inverted_residual_setting, dropout, stochastic_depth_prob=0.2, num_classes=1000, norm_layer=None,
        last_channel=None,
    ):  # fmt: skip
        super().__init__()
        settings = inverted_residual_setting
        if not settings:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not isinstance(settings, (list, tuple)) or not all(isinstance(s, _MBConvConfig) for s in settings):
            raise TypeError("The inverted_residual_setting should be List[MBConvConfig]")
        norm_layer = nn.BatchNorm2d if norm_layer is None else norm_layer
        options = {"norm_layer": norm_layer, "activation_layer": nn.SiLU}
        layers = [Conv2dNormActivation(3, settings[0].input_channels, kernel_size=3, stride=2, **options)]
        blocks, done = sum(cnf.num_layers for cnf in settings), 0
        for cnf in settings:
            stage = []
            for i in range(cnf.num_layers):
                own = copy.copy(cnf)
                if i > 0:
                    own.input_channels = own.out_channels
                    own.stride = 1
                stage.append(own.block(own, stochastic_depth_prob * float(done) / blocks, norm_layer))
                done += 1
            layers.append(nn.Sequential(*stage))
        channels = settings[-1].out_channels
        last = 4 * channels if last_channel is None else last_channel
        layers.append(Conv2dNormActivation(channels, last, kernel_size=1, **options))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(p=dropout, inplace=True), nn.Linear(last, num_classes))
        initialize_convolutions(self)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                bound = 1.0 / math.sqrt(module.out_features)
                nn.init.uniform_(module.weight, -bound, bound)
                nn.init.zeros_(module.bias)

    def forward(self, x):
        return self.classifier(C.flatten(self.avgpool(self.features(x)), 1))


# Version 1: expansion, kernel, stride, channels in and out, blocks; all scaled by width and depth.
FIRST = (
    (1, 3, 1, 32, 16, 1), (6, 3, 2, 16, 24, 2), (6, 5, 2, 24, 40, 2), (6, 3, 2, 40, 80, 3), (6, 5, 1, 80, 112, 3),
    (6, 5, 2, 112, 192, 4), (6, 3, 1, 192, 320, 1),
)  # fmt: skip
# Version 2: the class first.
FUSED, PLAIN = FusedMBConvConfig, MBConvConfig
SECOND = {
    "s": (
        (FUSED, 1, 3, 1, 24, 24, 2), (FUSED, 4, 3, 2, 24, 48, 4), (FUSED, 4, 3, 2, 48, 64, 4), (PLAIN, 4, 3, 2, 64,
        128, 6),
        (PLAIN, 6, 3, 1, 128, 160, 9), (PLAIN, 6, 3, 2, 160, 256, 15),
    ),
    "m": (
        (FUSED, 1, 3, 1, 24, 24, 3), (FUSED, 4, 3, 2, 24, 48, 5), (FUSED, 4, 3, 2, 48, 80, 5), (PLAIN, 4, 3, 2, 80,
        160, 7),
        (PLAIN, 6, 3, 1, 160, 176, 14), (PLAIN, 6, 3, 2, 176, 304, 18), (PLAIN, 6, 3, 1, 304, 512, 5),
    ),
    "l": (
        (FUSED, 1, 3, 1, 32, 32, 4), (FUSED, 4, 3, 2, 32, 64, 7), (FUSED, 4, 3, 2, 64, 96, 7), (PLAIN, 4, 3, 2, 96,
        192, 10),
        (PLAIN, 6, 3, 1, 192, 224, 19), (PLAIN, 6, 3, 2, 224, 384, 25), (PLAIN, 6, 3, 1, 384, 640, 7),
    ),
}  # fmt: skip
RARE = partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)  # the norm of B5 to B7
FINE = partial(nn.BatchNorm2d, eps=1e-3)  # the norm of version 2


def _first(kwargs, width, depth, dropout, norm_layer=None):
    settings = [MBConvConfig(*row, width_mult=width, depth_mult=depth) for row in FIRST]
    return EfficientNet(settings, **{"dropout": dropout, "norm_layer": norm_layer, **kwargs})


def _second(kwargs, size, dropout):
    settings = [kind(*row) for kind, *row in SECOND[size]]
    return EfficientNet(settings, last_channel=1280, **{"dropout": dropout, "norm_layer": FINE, **kwargs})


@builder
def efficientnet_b0(**kwargs):
    return _first(kwargs, 1.0, 1.0, 0.2)


@builder
def efficientnet_b1(**kwargs):
    return _first(kwargs, 1.0, 1.1, 0.2)


@builder
def efficientnet_b2(**kwargs):
    return _first(kwargs, 1.1, 1.2, 0.3)


@builder
def efficientnet_b3(**kwargs):
    return _first(kwargs, 1.2, 1.4, 0.3)


@builder
def efficientnet_b4(**kwargs):
    return _first(kwargs, 1.4, 1.8, 0.4)


@builder
def efficientnet_b5(**kwargs):
    return _first(kwargs, 1.6, 2.2, 0.4, RARE)


@builder
def efficientnet_b6(**kwargs):
    return _first(kwargs, 1.8, 2.6, 0.5, RARE)


@builder
def efficientnet_b7(**kwargs):
    return _first(kwargs, 2.0, 3.1, 0.5, RARE)


@builder
def efficientnet_v2_s(**kwargs):
    return _second(kwargs, "s", 0.2)


@builder
def efficientnet_v2_m(**kwargs):
    return _second(kwargs, "m", 0.3)


@builder
def efficientnet_v2_l(**kwargs):
    return _second(kwargs, "l", 0.4)
