"""FCN: a classifier at every position of a residual network's last stage."""

from .... import nn
from .._api import builder
from ..resnet import ResNet50_Weights, ResNet101_Weights, resnet50, resnet101
from ._utils import _SimpleSegmentationModel, of_resnet, with_weights

__all__ = ["FCN", "fcn_resnet101", "fcn_resnet50"]


class FCN(_SimpleSegmentationModel):
    pass


class FCNHead(nn.Sequential):
    def __init__(self, in_channels, channels):
        inner = in_channels // 4
        super().__init__(
            nn.Conv2d(in_channels, inner, 3, padding=1, bias=False),
            nn.BatchNorm2d(inner),
            nn.ReLU(),
            nn.Dropout(0.1),
            nn.Conv2d(inner, channels, 1),
        )


@builder(prepare=with_weights)
def fcn_resnet50(**kwargs):
    return of_resnet(FCN, FCNHead, FCNHead, resnet50, ResNet50_Weights.IMAGENET1K_V1, **kwargs)


@builder(prepare=with_weights)
def fcn_resnet101(**kwargs):
    return of_resnet(FCN, FCNHead, FCNHead, resnet101, ResNet101_Weights.IMAGENET1K_V1, **kwargs)
