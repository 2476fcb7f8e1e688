"""ConvNeXt: a convolutional network with the habits of transformers."""

from functools import partial

import _terra_C as C

from ... import nn
from ...nn import functional as F
from ..ops.misc import Conv2dNormActivation, Permute
from ..ops.stochastic_depth import StochasticDepth
from ._api import builder

__all__ = ["ConvNeXt", "convnext_base", "convnext_large", "convnext_small", "convnext_tiny"]


class LayerNorm2d(nn.LayerNorm):
    """Layer normalization over the channels of images."""

    def forward(self, x):
        x = F.layer_norm(x.permute(0, 2, 3, 1), self.normalized_shape, self.weight, self.bias, self.eps)
        return x.permute(0, 3, 1, 2)


class CNBlock(nn.Module):
    """A 7 x 7 convolution in each channel, then a perceptron at each pixel, scaled, beside a shortcut."""

    def __init__(self, dim, layer_scale, stochastic_depth_prob, norm_layer=None):
        super().__init__()
        norm_layer = partial(nn.LayerNorm, eps=1e-6) if norm_layer is None else norm_layer
        self.block = nn.Sequential(
            nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim, bias=True),
            Permute([0, 2, 3, 1]),
            norm_layer(dim),
            nn.Linear(in_features=dim, out_features=4 * dim, bias=True),
            nn.GELU(),
            nn.Linear(in_features=4 * dim, out_features=dim, bias=True),
            Permute([0, 3, 1, 2]),
        )
        self.layer_scale = nn.Parameter(C.ones(dim, 1, 1) * layer_scale)
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")

    def forward(self, input):
        result = self.stochastic_depth(self.layer_scale * self.block(input))
        result += input
        return result


class CNBlockConfig:
    """A stage: its channels, those after it (None: it is the last), its blocks."""

    def __init__(self, input_channels, out_channels, num_layers):
        self.input_channels = input_channels
        self.out_channels = out_channels
        self.num_layers = num_layers

    def __repr__(self):
        return (
            f"{type(self).__name__}(input_channels={self.input_channels}, out_channels={self.out_channels}, "
            f"num_layers={self.num_layers})"
        )


class ConvNeXt(nn.Module):
    def __init__(
        self, block_setting, stochastic_depth_prob=0.0, layer_scale=1e-6, num_classes=1000, block=None, norm_layer=None,
        **kwargs,
    ):  # fmt: skip
        super().__init__()
        if not block_setting:
            raise ValueError("The block_setting should not be empty")
        if not isinstance(block_setting, (list, tuple)) or not all(isinstance(s, CNBlockConfig) for s in block_setting):
            raise TypeError("The block_setting should be List[CNBlockConfig]")
        block = CNBlock if block is None else block
        norm_layer = partial(LayerNorm2d, eps=1e-6) if norm_layer is None else norm_layer
        layers = [
            Conv2dNormActivation(
                3, block_setting[0].input_channels, kernel_size=4, stride=4, padding=0, norm_layer=norm_layer,
                activation_layer=None, bias=True,
            )
        ]  # fmt: skip
        blocks, done = sum(cnf.num_layers for cnf in block_setting), 0
        for cnf in block_setting:
            stage = []
            for _ in range(cnf.num_layers):
                stage.append(block(cnf.input_channels, layer_scale, stochastic_depth_prob * done / (blocks - 1.0)))
                done += 1
            layers.append(nn.Sequential(*stage))
            if cnf.out_channels is not None:
                halved = nn.Conv2d(cnf.input_channels, cnf.out_channels, kernel_size=2, stride=2)
                layers.append(nn.Sequential(norm_layer(cnf.input_channels), halved))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        last = block_setting[-1]
        channels = last.input_channels if last.out_channels is None else last.out_channels
        self.classifier = nn.Sequential(norm_layer(channels), nn.Flatten(1), nn.Linear(channels, num_classes))
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)))


def _convnext(kwargs, widths, depths, stochastic_depth_prob):
    settings = [CNBlockConfig(*row) for row in zip(widths, [*widths[1:], None], depths)]
    return ConvNeXt(settings, **{"stochastic_depth_prob": stochastic_depth_prob, **kwargs})


@builder
def convnext_tiny(**kwargs):
    return _convnext(kwargs, (96, 192, 384, 768), (3, 3, 9, 3), 0.1)


@builder
def convnext_small(**kwargs):
    return _convnext(kwargs, (96, 192, 384, 768), (3, 3, 27, 3), 0.4)


@builder
def convnext_base(**kwargs):
    return _convnext(kwargs, (128, 256, 512, 1024), (3, 3, 27, 3), 0.5)


@builder
def convnext_large(**kwargs):
    return _convnext(kwargs, (192, 384, 768, 1536), (3, 3, 27, 3), 0.5)
