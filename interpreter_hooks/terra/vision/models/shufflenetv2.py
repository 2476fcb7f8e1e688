"""ShuffleNet, version 2: half of the channels pass each block unchanged, then both halves are mixed."""

import _terra_C as C

from ... import nn
from ._api import builder

__all__ = ["ShuffleNetV2", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "shufflenet_v2_x1_5", "shufflenet_v2_x2_0"]


def channel_shuffle(x, groups):
    """Channels of the groups in turn."""
    batch, channels, height, width = x.size()
    x = x.view(batch, groups, channels // groups, height, width)
    return C.transpose(x, 1, 2).contiguous().view(batch, channels, height, width)


def _depthwise(channels, stride):
    return nn.Conv2d(channels, channels, 3, stride, 1, bias=False, groups=channels)


def _pointwise(inp, oup):
    return nn.Conv2d(inp, oup, kernel_size=1, stride=1, padding=0, bias=False)


class InvertedResidual(nn.Module):
    def __init__(self, inp, oup, stride):
        super().__init__()
        if not 1 <= stride <= 3:
            raise ValueError("illegal stride value")
        self.stride = stride
        half = oup // 2
        if stride == 1 and inp != half << 1:
            raise ValueError(
                f"Invalid combination of stride {stride}, inp {inp} and oup {oup} values. If stride == 1 then inp "
                f"should"
                " be equal to oup // 2 << 1."
            )
        self.branch1 = nn.Sequential()
        if stride > 1:
            self.branch1 = nn.Sequential(
                _depthwise(inp, stride),
                nn.BatchNorm2d(inp),
                _pointwise(inp, half),
                nn.BatchNorm2d(half),
                nn.ReLU(inplace=True),
            )
        self.branch2 = nn.Sequential(
            _pointwise(inp if stride > 1 else half, half),
            nn.BatchNorm2d(half),
            nn.ReLU(inplace=True),
            _depthwise(half, stride),
            nn.BatchNorm2d(half),
            _pointwise(half, half),
            nn.BatchNorm2d(half),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        if self.stride == 1:
            kept, x = x.chunk(2, dim=1)
        else:
            kept = self.branch1(x)
        return channel_shuffle(C.cat((kept, self.branch2(x)), dim=1), 2)


class ShuffleNetV2(nn.Module):
    def __init__(self, stages_repeats, stages_out_channels, num_classes=1000, inverted_residual=InvertedResidual):
        super().__init__()
        if len(stages_repeats) != 3:
            raise ValueError("expected stages_repeats as list of 3 positive ints")
        if len(stages_out_channels) != 5:
            raise ValueError("expected stages_out_channels as list of 5 positive ints")
        self._stage_out_channels = stages_out_channels
        channels = stages_out_channels[0]
        self.conv1 = nn.Sequential(
            nn.Conv2d(3, channels, 3, 2, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(inplace=True)
        )
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        for stage, repeats, out in zip((2, 3, 4), stages_repeats, stages_out_channels[1:]):
            blocks = [inverted_residual(channels, out, 2)]
            blocks += [inverted_residual(out, out, 1) for _ in range(repeats - 1)]
            setattr(self, f"stage{stage}", nn.Sequential(*blocks))
            channels = out
        last = stages_out_channels[-1]
        self.conv5 = nn.Sequential(_pointwise(channels, last), nn.BatchNorm2d(last), nn.ReLU(inplace=True))
        self.fc = nn.Linear(last, num_classes)

    def forward(self, x):
        x = self.maxpool(self.conv1(x))
        x = self.conv5(self.stage4(self.stage3(self.stage2(x))))
        return self.fc(x.mean([2, 3]))


@builder
def shufflenet_v2_x0_5(**kwargs):
    return ShuffleNetV2([4, 8, 4], [24, 48, 96, 192, 1024], **kwargs)


@builder
def shufflenet_v2_x1_0(**kwargs):
    return ShuffleNetV2([4, 8, 4], [24, 116, 232, 464, 1024], **kwargs)


@builder
def shufflenet_v2_x1_5(**kwargs):
    return ShuffleNetV2([4, 8, 4], [24, 176, 352, 704, 1024], **kwargs)


@builder
def shufflenet_v2_x2_0(**kwargs):
    return ShuffleNetV2([4, 8, 4], [24, 244, 488, 976, 2048], **kwargs)
