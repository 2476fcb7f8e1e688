"""Boxes, rows of (x1, y1, x2, y2) unless said otherwise: overlaps, forms, and the best of many."""

import math

import _terra_C as C

__all__ = [
    "batched_nms", "box_area", "box_convert", "box_iou", "clip_boxes_to_image", "complete_box_iou", "distance_box_iou",
    "generalized_box_iou", "masks_to_boxes", "nms", "remove_small_boxes",
]  # fmt: skip

FORMS = ("xyxy", "xywh", "cxcywh")


def nms(boxes, scores, iou_threshold):
    """Rows of the boxes that stay, best first: no better one that stays overlaps them by more than the threshold."""
    if boxes.dim() != 2:
        raise RuntimeError(f"boxes should be a 2d tensor, got {boxes.dim()}D")
    if boxes.size(1) != 4:
        raise RuntimeError(f"boxes should have 4 elements in dimension 1, got {boxes.size(1)}")
    if scores.dim() != 1:
        raise RuntimeError(f"scores should be a 1d tensor, got {scores.dim()}D")
    if boxes.size(0) != scores.size(0):
        raise RuntimeError(
            "boxes and scores should have same number of elements in dimension 0, got "
            f"{boxes.size(0)} and {scores.size(0)}"
        )
    order = C.sort(scores.detach(), descending=True, stable=True).indices
    sorted_boxes = boxes.detach()[order]
    areas = (sorted_boxes[:, 2] - sorted_boxes[:, 0]) * (sorted_boxes[:, 3] - sorted_boxes[:, 1])
    left = C.ones(len(order), dtype=C.bool)
    kept = []
    for i in range(len(order)):
        if not left[i]:
            continue
        kept.append(i)
        corner = C.maximum(sorted_boxes[i, :2], sorted_boxes[i + 1 :, :2])
        extent = (C.minimum(sorted_boxes[i, 2:], sorted_boxes[i + 1 :, 2:]) - corner).clamp(min=0)
        common = extent[:, 0] * extent[:, 1]
        left[i + 1 :] &= ~(common / (areas[i] + areas[i + 1 :] - common) > iou_threshold)
    return order[C.tensor(kept, dtype=C.int64)]


def batched_nms(boxes, scores, idxs, iou_threshold):
    """nms among the boxes of each category in `idxs` by itself."""
    if boxes.numel() == 0:
        return C.empty((0,), dtype=C.int64, device=boxes.device)
    # categories are moved so far apart that their boxes never meet
    apart = idxs.to(boxes) * (boxes.max() + 1)
    return nms(boxes + apart[:, None], scores, iou_threshold)


def remove_small_boxes(boxes, min_size):
    """Rows of the boxes whose both sides are no shorter than min_size."""
    width, height = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    return C.where((width >= min_size) & (height >= min_size))[0]


def clip_boxes_to_image(boxes, size):
    """The parts of boxes inside an image of size (height, width)."""
    height, width = size
    x = boxes[..., 0::2].clamp(min=0, max=width)
    y = boxes[..., 1::2].clamp(min=0, max=height)
    return C.stack((x, y), dim=boxes.dim()).reshape(boxes.shape)


def box_convert(boxes, in_fmt, out_fmt):
    """Between corners "xyxy", corner and size "xywh", centre and size "cxcywh"."""
    if in_fmt not in FORMS or out_fmt not in FORMS:
        raise ValueError(f"Unsupported Bounding Box Conversions for given in_fmt {in_fmt} and out_fmt {out_fmt}")
    if in_fmt == out_fmt:
        return boxes.clone()
    a, b, c, d = boxes.unbind(-1)
    if in_fmt == "xywh":
        a, b, c, d = a, b, a + c, b + d
    elif in_fmt == "cxcywh":
        a, b, c, d = a - 0.5 * c, b - 0.5 * d, a + 0.5 * c, b + 0.5 * d
    if out_fmt == "xywh":
        a, b, c, d = a, b, c - a, d - b
    elif out_fmt == "cxcywh":
        a, b, c, d = (a + c) / 2, (b + d) / 2, c - a, d - b
    return C.stack((a, b, c, d), dim=-1)


def _wide(tensor):
    """In a dtype in which products of coordinates fit."""
    if tensor.is_floating_point():
        return tensor if tensor.dtype in (C.float32, C.float64) else tensor.float()
    return tensor if tensor.dtype in (C.int32, C.int64) else tensor.int()


def _corners(boxes, fmt):
    return boxes if fmt == "xyxy" else box_convert(boxes, fmt, "xyxy")


def box_area(boxes, fmt="xyxy"):
    if fmt not in FORMS:
        raise ValueError(f"Unsupported Box Area Calculation for given fmt {fmt}.")
    boxes = _wide(boxes)
    if fmt == "xyxy":
        return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
    return boxes[..., -2] * boxes[..., -1]


def _common_and_union(boxes1, boxes2, fmt="xyxy"):
    areas1, areas2 = box_area(boxes1, fmt), box_area(boxes2, fmt)
    boxes1, boxes2 = _corners(boxes1, fmt), _corners(boxes2, fmt)
    corner = C.maximum(boxes1[..., None, :2], boxes2[..., None, :, :2])
    extent = _wide(C.minimum(boxes1[..., None, 2:], boxes2[..., None, :, 2:]) - corner).clamp(min=0)
    common = extent[..., 0] * extent[..., 1]
    return common, areas1[..., None] + areas2[..., None, :] - common


def box_iou(boxes1, boxes2, fmt="xyxy"):
    """[n, m]: the common area of each pair over the area of both together."""
    common, union = _common_and_union(boxes1, boxes2, fmt)
    return common / union


def _hull(boxes1, boxes2):
    """The width and height of the smallest box around each pair."""
    corner = C.minimum(boxes1[..., None, :2], boxes2[..., None, :, :2])
    return _wide(C.maximum(boxes1[..., None, 2:], boxes2[..., None, :, 2:]) - corner).clamp(min=0)


def generalized_box_iou(boxes1, boxes2):
    """IoU less the part of the box around both that neither fills."""
    common, union = _common_and_union(boxes1, boxes2)
    hull = _hull(boxes1, boxes2)
    area = hull[..., 0] * hull[..., 1]
    return common / union - (area - union) / area


def _distance_terms(boxes1, boxes2, eps):
    boxes1, boxes2 = _wide(boxes1), _wide(boxes2)
    hull = _hull(boxes1, boxes2)
    diagonal = hull[..., 0] ** 2 + hull[..., 1] ** 2 + eps
    centre1 = (boxes1[..., :2] + boxes1[..., 2:]) / 2
    centre2 = (boxes2[..., :2] + boxes2[..., 2:]) / 2
    apart = (_wide(centre1[..., None, :] - centre2[..., None, :, :]) ** 2).sum(-1)
    return box_iou(boxes1, boxes2), apart / diagonal


def distance_box_iou(boxes1, boxes2, eps=1e-7):
    """IoU less the squared distance of the centres over that of the corners around both."""
    iou, distance = _distance_terms(boxes1, boxes2, eps)
    return iou - distance


def complete_box_iou(boxes1, boxes2, eps=1e-7):
    """distance_box_iou less a term for different proportions."""
    iou, distance = _distance_terms(boxes1, boxes2, eps)
    angle1 = C.atan((boxes1[..., 2] - boxes1[..., 0]) / (boxes1[..., 3] - boxes1[..., 1]))
    angle2 = C.atan((boxes2[..., 2] - boxes2[..., 0]) / (boxes2[..., 3] - boxes2[..., 1]))
    v = (4 / math.pi**2) * (angle1[..., None] - angle2[..., None, :]) ** 2
    alpha = (v / (1 - iou + v + eps)).detach()
    return iou - distance - alpha * v


def masks_to_boxes(masks):
    """[n, 4]: the boxes around what is not zero in masks [n, height, width]."""
    if masks.numel() == 0:
        return C.zeros((0, 4), device=masks.device, dtype=C.float)
    boxes = C.zeros((masks.shape[0], 4), device=masks.device, dtype=C.float)
    for i, mask in enumerate(masks):
        rows, columns = C.where(mask != 0)
        if len(rows):
            boxes[i] = C.stack([columns.min(), rows.min(), columns.max(), rows.max()]).float()
    return boxes
