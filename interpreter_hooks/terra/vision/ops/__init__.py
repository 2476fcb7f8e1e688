"""Operations of vision models: on boxes, on windows of feature maps, and layers that models share."""

from ..._missing_parts import sentences
from .box_losses import complete_box_iou_loss, distance_box_iou_loss, generalized_box_iou_loss
from .boxes import (
    batched_nms, box_area, box_convert, box_iou, clip_boxes_to_image, complete_box_iou, distance_box_iou,
    generalized_box_iou, masks_to_boxes, nms, remove_small_boxes,
)  # fmt: skip
from .drop_block import DropBlock2d, DropBlock3d, drop_block2d, drop_block3d
from .feature_pyramid_network import FeaturePyramidNetwork
from .focal_loss import sigmoid_focal_loss
from .misc import MLP, Conv2dNormActivation, Conv3dNormActivation, FrozenBatchNorm2d, Permute, SqueezeExcitation
from .roi_align import RoIAlign, roi_align
from .roi_pool import RoIPool, roi_pool
from .stochastic_depth import StochasticDepth, stochastic_depth

_MISSING = (
    "DeformConv2d",
    "MultiScaleRoIAlign",
    "PSRoIAlign",
    "PSRoIPool",
    "deform_conv2d",
    "ps_roi_align",
    "ps_roi_pool",
)
globals().update(sentences("torchvision.ops", _MISSING))

__all__ = [
    "Conv2dNormActivation", "Conv3dNormActivation", "DropBlock2d", "DropBlock3d", "FeaturePyramidNetwork",
    "FrozenBatchNorm2d", "MLP", "Permute", "RoIAlign", "RoIPool", "SqueezeExcitation", "StochasticDepth", "batched_nms",
    "box_area", "box_convert", "box_iou", "clip_boxes_to_image", "complete_box_iou", "complete_box_iou_loss",
    "distance_box_iou", "distance_box_iou_loss", "drop_block2d", "drop_block3d", "generalized_box_iou",
    "generalized_box_iou_loss", "masks_to_boxes", "nms", "remove_small_boxes", "roi_align", "roi_pool",
    "sigmoid_focal_loss", "stochastic_depth", *_MISSING,
]  # fmt: skip
