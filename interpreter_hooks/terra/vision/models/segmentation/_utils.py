"""What models of segmentation share: a backbone, heads, and the way back to the image's size."""

from collections import OrderedDict

from .... import nn
from ....nn import functional as F
from .._utils import IntermediateLayerGetter


class _SimpleSegmentationModel(nn.Module):
    """Gives {"out": scores of every pixel, and with a second head "aux"}."""

    def __init__(self, backbone, classifier, aux_classifier=None):
        super().__init__()
        self.backbone = backbone
        self.classifier = classifier
        self.aux_classifier = aux_classifier

    def forward(self, x):
        size = x.shape[-2:]
        features = self.backbone(x)
        result = OrderedDict()
        result["out"] = F.interpolate(self.classifier(features["out"]), size=size, mode="bilinear", align_corners=False)
        if self.aux_classifier is not None:
            auxiliary = self.aux_classifier(features["aux"])
            result["aux"] = F.interpolate(auxiliary, size=size, mode="bilinear", align_corners=False)
        return result


def of_resnet(kind, head, auxiliary_head, resnet, usual, num_classes=21, aux_loss=None, **kwargs):
    """The model on the last stage of a residual network, its second head on the stage before."""
    weights = backbone_weights(kwargs, usual)
    backbone = resnet(weights=weights, replace_stride_with_dilation=[False, True, True])
    layers = {"layer4": "out", "layer3": "aux"} if aux_loss else {"layer4": "out"}
    num_classes = 21 if num_classes is None else num_classes
    auxiliary = auxiliary_head(1024, num_classes) if aux_loss else None
    return kind(IntermediateLayerGetter(backbone, return_layers=layers), head(2048, num_classes), auxiliary)


def reductions(features):
    """Where a MobileNet halves its images: the first layer, the blocks that stride, the last layer."""
    inner = [i for i, block in enumerate(features) if getattr(block, "_is_cn", False)]
    return [0, *inner, len(features) - 1]


def with_weights(weights, kwargs):
    """The file holds the backbone too, and the second head."""
    kwargs["weights_backbone"] = None
    kwargs.setdefault("aux_loss", True)


def backbone_weights(kwargs, usual):
    """What is asked for the backbone, by `weights_backbone` or the old `pretrained_backbone`."""
    if "pretrained_backbone" in kwargs:
        return usual if kwargs.pop("pretrained_backbone") else None
    return kwargs.pop("weights_backbone", usual)
