"""MNASNet."""

from ... import nn
from ._api import builder

__all__ = ["MNASNet", "mnasnet0_5", "mnasnet0_75", "mnasnet1_0", "mnasnet1_3"]

MOMENTUM = 1 - 0.9997  # the paper's, as a share of the new batch


class _InvertedResidual(nn.Module):
    def __init__(self, in_ch, out_ch, kernel_size, stride, expansion_factor, bn_momentum=0.1):
        super().__init__()
        if stride not in (1, 2):
            raise ValueError(f"stride should be 1 or 2 instead of {stride}")
        if kernel_size not in (3, 5):
            raise ValueError(f"kernel_size should be 3 or 5 instead of {kernel_size}")
        inner = in_ch * expansion_factor
        self.apply_residual = in_ch == out_ch and stride == 1
        self.layers = nn.Sequential(
            nn.Conv2d(in_ch, inner, 1, bias=False),
            nn.BatchNorm2d(inner, momentum=bn_momentum),
            nn.ReLU(inplace=True),
            nn.Conv2d(inner, inner, kernel_size, padding=kernel_size // 2, stride=stride, groups=inner, bias=False),
            nn.BatchNorm2d(inner, momentum=bn_momentum),
            nn.ReLU(inplace=True),
            nn.Conv2d(inner, out_ch, 1, bias=False),
            nn.BatchNorm2d(out_ch, momentum=bn_momentum),
        )

    def forward(self, input):
        return self.layers(input) + input if self.apply_residual else self.layers(input)


def _stack(in_ch, out_ch, kernel_size, stride, expansion, repeats):
    blocks = [_InvertedResidual(in_ch, out_ch, kernel_size, stride, expansion, bn_momentum=MOMENTUM)]
    for _ in range(1, repeats):
        blocks.append(_InvertedResidual(out_ch, out_ch, kernel_size, 1, expansion, bn_momentum=MOMENTUM))
    return nn.Sequential(*blocks)


def _round_to_multiple_of(value, divisor, round_up_bias=0.9):
    """The nearest multiple; down only where no more than a tenth is lost."""
    rounded = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return rounded if rounded >= round_up_bias * value else rounded + divisor


class MNASNet(nn.Module):
    _version = 2

    def __init__(self, alpha, num_classes=1000, dropout=0.2):
        super().__init__()
        if alpha <= 0.0:
            raise ValueError(f"alpha should be greater than 0.0 instead of {alpha}")
        self.alpha = alpha
        self.num_classes = num_classes
        a, b, c, d, e, f, g, h = (_round_to_multiple_of(n * alpha, 8) for n in (32, 16, 24, 40, 80, 96, 192, 320))
        self.layers = nn.Sequential(
            nn.Conv2d(3, a, 3, padding=1, stride=2, bias=False),
            nn.BatchNorm2d(a, momentum=MOMENTUM),
            nn.ReLU(inplace=True),
            nn.Conv2d(a, a, 3, padding=1, stride=1, groups=a, bias=False),
            nn.BatchNorm2d(a, momentum=MOMENTUM),
            nn.ReLU(inplace=True),
            nn.Conv2d(a, b, 1, padding=0, stride=1, bias=False),
            nn.BatchNorm2d(b, momentum=MOMENTUM),
            _stack(b, c, 3, 2, 3, 3),
            _stack(c, d, 5, 2, 3, 3),
            _stack(d, e, 5, 2, 6, 3),
            _stack(e, f, 3, 1, 6, 2),
            _stack(f, g, 5, 2, 6, 4),
            _stack(g, h, 3, 1, 6, 1),
            nn.Conv2d(h, 1280, 1, padding=0, stride=1, bias=False),
            nn.BatchNorm2d(1280, momentum=MOMENTUM),
            nn.ReLU(inplace=True),
        )
        self.classifier = nn.Sequential(nn.Dropout(p=dropout, inplace=True), nn.Linear(1280, num_classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(module, nn.BatchNorm2d):
                nn.init.ones_(module.weight)
                nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Linear):
                nn.init.kaiming_uniform_(module.weight, mode="fan_out", nonlinearity="sigmoid")
                nn.init.zeros_(module.bias)

    def forward(self, x):
        return self.classifier(self.layers(x).mean([2, 3]))


@builder
def mnasnet0_5(**kwargs):
    return MNASNet(0.5, **kwargs)


@builder
def mnasnet0_75(**kwargs):
    return MNASNet(0.75, **kwargs)


@builder
def mnasnet1_0(**kwargs):
    return MNASNet(1.0, **kwargs)


@builder
def mnasnet1_3(**kwargs):
    return MNASNet(1.3, **kwargs)
