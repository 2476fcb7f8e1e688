"""Losses of boxes, by how each row overlaps the row beside it."""

import math

import _terra_C as C

from .focal_loss import reduced

__all__ = ["complete_box_iou_loss", "distance_box_iou_loss", "generalized_box_iou_loss"]


def _as_floats(*boxes):
    return [b if b.is_floating_point() and b.dtype != C.float16 else b.float() for b in boxes]


def _common_and_union(boxes1, boxes2):
    """Of each row with the row beside it. Boxes that don't meet have no common area and no slope of it."""
    x1, y1, x2, y2 = boxes1.unbind(dim=-1)
    u1, v1, u2, v2 = boxes2.unbind(dim=-1)
    width, height = C.min(x2, u2) - C.max(x1, u1), C.min(y2, v2) - C.max(y1, v1)
    meet = (width > 0) & (height > 0)
    common = C.where(meet, width * height, C.zeros_like(width))
    return common, (x2 - x1) * (y2 - y1) + (u2 - u1) * (v2 - v1) - common


def _hull(boxes1, boxes2):
    low = C.min(boxes1[..., :2], boxes2[..., :2])
    high = C.max(boxes1[..., 2:], boxes2[..., 2:])
    return (high - low).unbind(-1)


def generalized_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    """1 - generalized IoU of each row with the row beside it."""
    boxes1, boxes2 = _as_floats(boxes1, boxes2)
    common, union = _common_and_union(boxes1, boxes2)
    width, height = _hull(boxes1, boxes2)
    area = width * height
    return reduced(1 - (common / (union + eps) - (area - union) / (area + eps)), reduction)


def _distance_loss(boxes1, boxes2, eps):
    """1 - distance IoU, and the IoU."""
    common, union = _common_and_union(boxes1, boxes2)
    iou = common / (union + eps)
    width, height = _hull(boxes1, boxes2)
    between = (boxes1[..., :2] + boxes1[..., 2:] - boxes2[..., :2] - boxes2[..., 2:]) / 2
    return 1 - iou + (between**2).sum(-1) / (width**2 + height**2 + eps), iou


def distance_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    """1 - IoU, and the squared distance of the centres over that of the corners around both."""
    boxes1, boxes2 = _as_floats(boxes1, boxes2)
    return reduced(_distance_loss(boxes1, boxes2, eps)[0], reduction)


def complete_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    """distance_box_iou_loss and a term for different proportions."""
    boxes1, boxes2 = _as_floats(boxes1, boxes2)
    loss, iou = _distance_loss(boxes1, boxes2, eps)
    angle1 = C.atan((boxes1[..., 2] - boxes1[..., 0]) / (boxes1[..., 3] - boxes1[..., 1]))
    angle2 = C.atan((boxes2[..., 2] - boxes2[..., 0]) / (boxes2[..., 3] - boxes2[..., 1]))
    v = (4 / math.pi**2) * (angle2 - angle1) ** 2
    alpha = (v / (1 - iou + v + eps)).detach()
    return reduced(loss + alpha * v, reduction)
