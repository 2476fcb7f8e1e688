"""LR-ASPP: a light head for MobileNets that joins a coarse and a finer stage."""

from collections import OrderedDict

from .... import nn
from ....nn import functional as F
from .._api import builder
from .._utils import IntermediateLayerGetter
from ..mobilenetv3 import MobileNet_V3_Large_Weights, mobilenet_v3_large
from ._utils import backbone_weights, reductions

__all__ = ["LRASPP", "lraspp_mobilenet_v3_large"]


class LRASPPHead(nn.Module):
    def __init__(self, low_channels, high_channels, num_classes, inter_channels):
        super().__init__()
        self.cbr = nn.Sequential(
            nn.Conv2d(high_channels, inter_channels, 1, bias=False),
            nn.BatchNorm2d(inter_channels),
            nn.ReLU(inplace=True),
        )
        self.scale = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(high_channels, inter_channels, 1, bias=False), nn.Sigmoid()
        )
        self.low_classifier = nn.Conv2d(low_channels, num_classes, 1)
        self.high_classifier = nn.Conv2d(inter_channels, num_classes, 1)

    def forward(self, input):
        low, high = input["low"], input["high"]
        x = self.cbr(high) * self.scale(high)
        x = F.interpolate(x, size=low.shape[-2:], mode="bilinear", align_corners=False)
        return self.low_classifier(low) + self.high_classifier(x)


class LRASPP(nn.Module):
    """Gives {"out": scores of every pixel}; the backbone gives {"low": ..., "high": ...}."""

    def __init__(self, backbone, low_channels, high_channels, num_classes, inter_channels=128):
        super().__init__()
        self.backbone = backbone
        self.classifier = LRASPPHead(low_channels, high_channels, num_classes, inter_channels)

    def forward(self, input):
        out = self.classifier(self.backbone(input))
        result = OrderedDict()
        result["out"] = F.interpolate(out, size=input.shape[-2:], mode="bilinear", align_corners=False)
        return result


def _whole(weights, kwargs):
    kwargs["weights_backbone"] = None


@builder(prepare=_whole)
def lraspp_mobilenet_v3_large(num_classes=21, **kwargs):
    weights = backbone_weights(kwargs, MobileNet_V3_Large_Weights.IMAGENET1K_V1)
    features = mobilenet_v3_large(weights=weights, dilated=True).features
    places = reductions(features)
    low, high = places[-4], places[-1]
    backbone = IntermediateLayerGetter(features, return_layers={str(low): "low", str(high): "high"})
    num_classes = 21 if num_classes is None else num_classes
    return LRASPP(backbone, features[low].out_channels, features[high].out_channels, num_classes)
