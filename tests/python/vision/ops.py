# run: --torch
"""Operations on boxes and windows with their gradients, and layers, as torchvision's."""

import torch
from _tables import check, elements, said, summary
from torch import nn
from torchvision import ops


def boxes(count, shift):
    corners = elements(count, 2, scale=20)
    return torch.cat([corners, corners + elements(count + shift, 2, scale=10)[shift:] + 0.1], 1)


A, B = boxes(30, 3), boxes(11, 5)
SCORES, GROUPS = elements(30), torch.arange(30) % 3
FORMS = ("xyxy", "xywh", "cxcywh")
MAPS = elements(2, 3, 16, 20) - 0.5
WINDOWS = torch.cat([torch.tensor([[0.0], [1.0], [1.0], [0.0]]), boxes(4, 1) * 1.4 - 3], 1)
CALLS = {
    "nms": lambda: [ops.nms(A, SCORES, t) for t in (0.0, 0.3, 0.9)],
    "nms of none": lambda: ops.nms(A[:0], SCORES[:0], 0.5),
    "nms of scores": lambda: ops.nms(A, SCORES[:5], 0.5),
    "nms of columns": lambda: ops.nms(A[:, :3], SCORES, 0.5),
    "nms of a row": lambda: ops.nms(A[0], SCORES, 0.5),
    "batched_nms": lambda: [
        ops.batched_nms(A, SCORES, GROUPS, 0.2),
        ops.batched_nms(A[:0], SCORES[:0], GROUPS[:0], 0.2),
    ],
    "box_iou": lambda: [ops.box_iou(A.to(d), B.to(d)) for d in (torch.float32, torch.float64, torch.int32)],
    "box_iou of forms": lambda: [ops.box_iou(A, B, fmt=f) for f in FORMS],
    "generalized": lambda: [ops.generalized_box_iou(A, B), ops.generalized_box_iou(A[:0], B)],
    "distance": lambda: ops.distance_box_iou(A, B),
    "complete": lambda: ops.complete_box_iou(A, B),
    "box_area": lambda: [ops.box_area(A, fmt=f) for f in FORMS],
    "box_area of half": lambda: ops.box_area(A.half()),
    "box_area form": lambda: ops.box_area(A, fmt="yxyx"),
    "box_convert": lambda: [ops.box_convert(A, i, o) for i in FORMS for o in FORMS],
    "box_convert form": lambda: ops.box_convert(A, "xyxy", "abcd"),
    "clip": lambda: [ops.clip_boxes_to_image(A, (10, 15)), ops.clip_boxes_to_image(A.int(), (10, 15))],
    "remove_small": lambda: ops.remove_small_boxes(A, 4),
    "masks_to_boxes": lambda: [ops.masks_to_boxes(elements(4, 9, 8) > 0.9), ops.masks_to_boxes(torch.zeros(0, 3, 3))],
    "roi_align list": lambda: ops.roi_align(MAPS, [A[:2], B[:1]], (2, 3), 0.5),
    "roi_align of none": lambda: ops.roi_align(MAPS, WINDOWS[:0], 3),
    "roi_align of four": lambda: ops.roi_align(MAPS, A, 3),
    "roi_pool list": lambda: ops.roi_pool(MAPS, [A[:2], B[:1]], (2, 3), 0.5),
    "stochastic_depth": lambda: [ops.stochastic_depth(MAPS, p, m) for p in (0.0, 0.4, 1.0) for m in ("row", "batch")],
    "stochastic_depth p": lambda: ops.stochastic_depth(MAPS, 1.5, "row"),
    "stochastic_depth mode": lambda: ops.stochastic_depth(MAPS, 0.5, "column"),
    "stochastic_depth off": lambda: ops.stochastic_depth(MAPS, 0.5, "row", training=False),
    "drop_block2d": lambda: [ops.drop_block2d(MAPS, p, 3) for p in (0.0, 0.2, 0.9)],
    "drop_block2d even": lambda: ops.drop_block2d(MAPS, 0.2, 4),
    "drop_block2d p": lambda: ops.drop_block2d(MAPS, -0.2, 3),
    "focal alpha": lambda: ops.sigmoid_focal_loss(A, A, alpha=3),
    "loss reduction": lambda: ops.generalized_box_iou_loss(A, A, reduction="most"),
}
GRADIENTS = {
    **{
        f"{name} {r}": lambda x, n=name, r=r: getattr(ops, n)(x, boxes(30, 7), reduction=r)
        for r in ("none", "mean", "sum")
        for name in ("generalized_box_iou_loss", "distance_box_iou_loss", "complete_box_iou_loss")
    },
    "generalized gradient": lambda x: ops.generalized_box_iou(x, B),
    "complete gradient": lambda x: ops.complete_box_iou(x, B),
    "convert gradient": lambda x: ops.box_convert(x, "xyxy", "cxcywh") ** 2,
    **{
        f"focal {a} {g}": lambda x, a=a, g=g: ops.sigmoid_focal_loss(x / 9 - 1, (A > 9).float(), a, g, "mean")
        for a in (0.25, -1)
        for g in (0, 1.5, 2)
    },
}
ON_MAPS = {
    **{
        f"roi_align {size} {ratio} {aligned}": lambda x, s=size, r=ratio, a=aligned: ops.roi_align(
            x, WINDOWS, s, 0.7, r, a
        )
        for size in (1, 3, (2, 5))
        for ratio in (-1, 2)
        for aligned in (False, True)
    },
    **{f"roi_pool {size}": lambda x, s=size: ops.roi_pool(x, WINDOWS, s, 0.7) for size in (1, 3, (2, 5))},
}
LAYERS = {
    "conv": (lambda: ops.Conv2dNormActivation(3, 8), MAPS),
    "conv plain": (
        lambda: ops.Conv2dNormActivation(3, 8, 5, 2, dilation=2, norm_layer=None, activation_layer=None),
        MAPS,
    ),
    "conv oblong": (lambda: ops.Conv2dNormActivation(3, 6, (3, 5), groups=3, inplace=None), MAPS),
    "squeeze": (lambda: ops.SqueezeExcitation(3, 2), MAPS),
    "mlp": (lambda: ops.MLP(20, [8, 3], norm_layer=lambda n: nn.LayerNorm(n), inplace=False, dropout=0.5), MAPS),
    "permute": (lambda: ops.Permute([0, 2, 3, 1]), MAPS),
    "frozen": (lambda: ops.FrozenBatchNorm2d(3), MAPS),
    "depth": (lambda: ops.StochasticDepth(0.4, "row"), MAPS),
    "block": (lambda: ops.DropBlock2d(0.2, 3), MAPS),
    "align": (lambda: ops.RoIAlign(3, 0.5, 2), None),
    "pool": (lambda: ops.RoIPool(3, 0.5), None),
    "pyramid": (lambda: ops.FeaturePyramidNetwork([3, 3], 4), {"a": MAPS, "b": MAPS[..., ::2, ::2].clone()}),
}


def slopes(function, leaf):
    leaf = leaf.clone().requires_grad_()
    out = function(leaf)
    out.sum().backward()
    return summary([out, leaf.grad])


items = []
for name, function in CALLS.items():
    torch.manual_seed(4)
    items.append((name, said(function)))
items += [(name, slopes(function, A)) for name, function in GRADIENTS.items()]
items += [(name, slopes(function, MAPS)) for name, function in ON_MAPS.items()]
for name, (build, argument) in LAYERS.items():
    torch.manual_seed(4)
    layer = build()
    out = None if argument is None else layer(argument)
    state = [[key, summary(value)] for key, value in layer.state_dict().items()]
    items.append((name, [repr(layer), state, summary(out)]))
check(items, __file__)
