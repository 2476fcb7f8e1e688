"""DeepLabV3: a head that sees several distances by dilated convolutions."""

import _terra_C as C

from .... import nn
from ....nn import functional as F
from .._api import builder
from .._utils import IntermediateLayerGetter
from ..mobilenetv3 import MobileNet_V3_Large_Weights, mobilenet_v3_large
from ..resnet import ResNet50_Weights, ResNet101_Weights, resnet50, resnet101
from ._utils import _SimpleSegmentationModel, backbone_weights, of_resnet, reductions, with_weights
from .fcn import FCNHead

__all__ = ["DeepLabV3", "deeplabv3_mobilenet_v3_large", "deeplabv3_resnet101", "deeplabv3_resnet50"]


class DeepLabV3(_SimpleSegmentationModel):
    pass


class ASPPConv(nn.Sequential):
    def __init__(self, in_channels, out_channels, dilation):
        super().__init__(
            nn.Conv2d(in_channels, out_channels, 3, padding=dilation, dilation=dilation, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
        )


class ASPPPooling(nn.Sequential):
    """What the whole image says, at every position."""

    def __init__(self, in_channels, out_channels):
        super().__init__(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(in_channels, out_channels, 1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
        )

    def forward(self, x):
        size = x.shape[-2:]
        for module in self:
            x = module(x)
        return F.interpolate(x, size=size, mode="bilinear", align_corners=False)


class ASPP(nn.Module):
    """Atrous spatial pyramid pooling: several dilations side by side."""

    def __init__(self, in_channels, atrous_rates, out_channels=256):
        super().__init__()
        point = nn.Sequential(
            nn.Conv2d(in_channels, out_channels, 1, bias=False), nn.BatchNorm2d(out_channels), nn.ReLU()
        )
        dilated = [ASPPConv(in_channels, out_channels, rate) for rate in atrous_rates]
        self.convs = nn.ModuleList([point, *dilated, ASPPPooling(in_channels, out_channels)])
        self.project = nn.Sequential(
            nn.Conv2d(len(self.convs) * out_channels, out_channels, 1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(),
            nn.Dropout(0.5),
        )

    def forward(self, x):
        return self.project(C.cat([conv(x) for conv in self.convs], dim=1))


class DeepLabHead(nn.Sequential):
    def __init__(self, in_channels, num_classes, atrous_rates=(12, 24, 36)):
        super().__init__(
            ASPP(in_channels, atrous_rates),
            nn.Conv2d(256, 256, 3, padding=1, bias=False),
            nn.BatchNorm2d(256),
            nn.ReLU(),
            nn.Conv2d(256, num_classes, 1),
        )


@builder(prepare=with_weights)
def deeplabv3_resnet50(**kwargs):
    return of_resnet(DeepLabV3, DeepLabHead, FCNHead, resnet50, ResNet50_Weights.IMAGENET1K_V1, **kwargs)


@builder(prepare=with_weights)
def deeplabv3_resnet101(**kwargs):
    return of_resnet(DeepLabV3, DeepLabHead, FCNHead, resnet101, ResNet101_Weights.IMAGENET1K_V1, **kwargs)


@builder(prepare=with_weights)
def deeplabv3_mobilenet_v3_large(num_classes=21, aux_loss=None, **kwargs):
    weights = backbone_weights(kwargs, MobileNet_V3_Large_Weights.IMAGENET1K_V1)
    features = mobilenet_v3_large(weights=weights, dilated=True).features
    places = reductions(features)
    last, auxiliary = places[-1], places[-4]
    layers = {str(last): "out", str(auxiliary): "aux"} if aux_loss else {str(last): "out"}
    num_classes = 21 if num_classes is None else num_classes
    head = FCNHead(features[auxiliary].out_channels, num_classes) if aux_loss else None
    classifier = DeepLabHead(features[last].out_channels, num_classes)
    return DeepLabV3(IntermediateLayerGetter(features, return_layers=layers), classifier, head)
