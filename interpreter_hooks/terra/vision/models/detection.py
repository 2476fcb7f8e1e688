"""Models that find objects: not there."""

from ..._missing_parts import sentences

__all__ = [
    "FCOS", "FasterRCNN", "KeypointRCNN", "MaskRCNN", "RetinaNet", "SSD", "fasterrcnn_mobilenet_v3_large_320_fpn",
    "fasterrcnn_mobilenet_v3_large_fpn", "fasterrcnn_resnet50_fpn", "fasterrcnn_resnet50_fpn_v2", "fcos_resnet50_fpn",
    "keypointrcnn_resnet50_fpn", "maskrcnn_resnet50_fpn", "maskrcnn_resnet50_fpn_v2", "retinanet_resnet50_fpn",
    "retinanet_resnet50_fpn_v2", "ssd300_vgg16", "ssdlite320_mobilenet_v3_large",
]  # fmt: skip
globals().update(sentences("torchvision.models.detection", __all__))
