"""MobileNet, version 3: version 2 with squeeze and excitation and hard swish."""

from functools import partial

from ... import nn
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ._api import builder
from ._utils import _make_divisible, initialize_convolutions, initialize_linear

__all__ = ["MobileNetV3", "mobilenet_v3_large", "mobilenet_v3_small"]


class InvertedResidualConfig:
    """One block: channels in, kernel, channels inside and out, squeeze, activation "RE" or "HS", stride, dilation."""

    def __init__(
        self, input_channels, kernel, expanded_channels, out_channels, use_se, activation, stride, dilation, width_mult
    ):
        self.input_channels = self.adjust_channels(input_channels, width_mult)
        self.kernel = kernel
        self.expanded_channels = self.adjust_channels(expanded_channels, width_mult)
        self.out_channels = self.adjust_channels(out_channels, width_mult)
        self.use_se = use_se
        self.use_hs = activation == "HS"
        self.stride = stride
        self.dilation = dilation

    @staticmethod
    def adjust_channels(channels, width_mult):
        return _make_divisible(channels * width_mult, 8)


class InvertedResidual(nn.Module):
    def __init__(self, cnf, norm_layer, se_layer=partial(SqueezeExcitation, scale_activation=nn.Hardsigmoid)):
        super().__init__()
        if not 1 <= cnf.stride <= 2:
            raise ValueError("illegal stride value")
        self.use_res_connect = cnf.stride == 1 and cnf.input_channels == cnf.out_channels
        options = {"norm_layer": norm_layer, "activation_layer": nn.Hardswish if cnf.use_hs else nn.ReLU}
        inner = cnf.expanded_channels
        layers = []
        if inner != cnf.input_channels:
            layers.append(Conv2dNormActivation(cnf.input_channels, inner, kernel_size=1, **options))
        stride = 1 if cnf.dilation > 1 else cnf.stride
        layers.append(
            Conv2dNormActivation(
                inner, inner, kernel_size=cnf.kernel, stride=stride, dilation=cnf.dilation, groups=inner, **options
            )
        )
        if cnf.use_se:
            layers.append(se_layer(inner, _make_divisible(inner // 4, 8)))
        layers.append(
            Conv2dNormActivation(inner, cnf.out_channels, kernel_size=1, norm_layer=norm_layer, activation_layer=None)
        )
        self.block = nn.Sequential(*layers)
        self.out_channels = cnf.out_channels
        self._is_cn = cnf.stride > 1

    def forward(self, input):
        result = self.block(input)
        if self.use_res_connect:
            result += input
        return result


class MobileNetV3(nn.Module):
    def __init__(
        self,
        inverted_residual_setting,
        last_channel,
        num_classes=1000,
        block=None,
        norm_layer=None,
        dropout=0.2,
        **kwargs,
    ):
        super().__init__()
        if not inverted_residual_setting:
            raise ValueError("The inverted_residual_setting should not be empty")
        if not isinstance(inverted_residual_setting, (list, tuple)) or not all(
            isinstance(s, InvertedResidualConfig) for s in inverted_residual_setting
        ):
            raise TypeError("The inverted_residual_setting should be List[InvertedResidualConfig]")
        block = InvertedResidual if block is None else block
        norm_layer = partial(nn.BatchNorm2d, eps=0.001, momentum=0.01) if norm_layer is None else norm_layer
        options = {"norm_layer": norm_layer, "activation_layer": nn.Hardswish}
        first = inverted_residual_setting[0].input_channels
        last = inverted_residual_setting[-1].out_channels
        layers = [Conv2dNormActivation(3, first, kernel_size=3, stride=2, **options)]
        layers += [block(cnf, norm_layer) for cnf in inverted_residual_setting]
        layers.append(Conv2dNormActivation(last, 6 * last, kernel_size=1, **options))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(6 * last, last_channel),
            nn.Hardswish(inplace=True),
            nn.Dropout(p=dropout, inplace=True),
            nn.Linear(last_channel, num_classes),
        )
        initialize_convolutions(self)
        initialize_linear(self)

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


# kernel, channels inside, channels out, squeeze, activation, stride
LARGE = (
    (3, 16, 16, False, "RE", 1), (3, 64, 24, False, "RE", 2), (3, 72, 24, False, "RE", 1), (5, 72, 40, True, "RE", 2),
    (5, 120, 40, True, "RE", 1), (5, 120, 40, True, "RE", 1), (3, 240, 80, False, "HS", 2), (3, 200, 80, False, "HS",
    1),
    (3, 184, 80, False, "HS", 1), (3, 184, 80, False, "HS", 1), (3, 480, 112, True, "HS", 1), (3, 672, 112, True,
    "HS", 1),
    (5, 672, 160, True, "HS", 2), (5, 960, 160, True, "HS", 1), (5, 960, 160, True, "HS", 1),
)  # fmt: skip
SMALL = (
    (3, 16, 16, True, "RE", 2), (3, 72, 24, False, "RE", 2), (3, 88, 24, False, "RE", 1), (5, 96, 40, True, "HS", 2),
    (5, 240, 40, True, "HS", 1), (5, 240, 40, True, "HS", 1), (5, 120, 48, True, "HS", 1), (5, 144, 48, True, "HS", 1),
    (5, 288, 96, True, "HS", 2), (5, 576, 96, True, "HS", 1), (5, 576, 96, True, "HS", 1),
)  # fmt: skip
TAIL = 3  # that many last blocks are halved in the reduced form and dilated in the dilated one


def _mobilenet_v3(rows, last_channel, width_mult=1.0, reduced_tail=False, dilated=False, **kwargs):
    divider = 2 if reduced_tail else 1
    settings, channels = [], 16
    for i, (kernel, inner, out, squeeze, activation, stride) in enumerate(rows):
        left = len(rows) - i
        if left <= TAIL:
            out //= divider
            inner //= divider if left < TAIL else 1
        dilation = 2 if dilated and left <= TAIL else 1
        settings.append(
            InvertedResidualConfig(channels, kernel, inner, out, squeeze, activation, stride, dilation, width_mult)
        )
        channels = out
    last = InvertedResidualConfig.adjust_channels(last_channel // divider, width_mult)
    return MobileNetV3(settings, last, **kwargs)


@builder
def mobilenet_v3_large(**kwargs):
    return _mobilenet_v3(LARGE, 1280, **kwargs)


@builder
def mobilenet_v3_small(**kwargs):
    return _mobilenet_v3(SMALL, 1024, **kwargs)
