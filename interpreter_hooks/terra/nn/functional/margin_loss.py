"""Losses that want scores or distances to differ by a margin."""

import _terra_C as C

from ._words import scalar_type
from .distance import pairwise_distance
from .loss import check_reduction, old_reduction, reduced

records = C._functional

__all__ = [
    "cosine_embedding_loss", "hinge_embedding_loss", "margin_ranking_loss", "multi_margin_loss",
    "multilabel_margin_loss", "multilabel_soft_margin_loss", "soft_margin_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip


# ---- scores of one or several classes -------------------------------------------------------------------------------
def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    input, target = C._in_single(input, target)
    return reduced(records.softplus(-input * target), reduction)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    loss = -(target * records.logsigmoid(input) + (1 - target) * records.logsigmoid(-input))
    loss = loss if weight is None else loss * weight
    classes = input.dim() - 1  # where the target has more dimensions, not its last one
    return reduced(loss.sum(classes) / input.size(classes), reduction)


def _scores(input, target):
    """(scores, targets): a vector of scores, or a matrix of such. A number is a vector of one."""
    if input.dim() > 2 or (input.dim() > 0 and input.size(-1) == 0):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}"
        )
    return (input, target) if input.dim() > 0 else (input.reshape(1), target.reshape(target.shape or (1,)))


def multi_margin_loss(
    input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"
):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    check_reduction(reduction)
    input, weight = C._in_single(input, weight)
    input, target = _scores(input, target)
    if target.shape != input.shape[:-1] and not (input.dim() == 1 and target.numel() == 1):
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size {list(input.shape[:-1])}, but got {list(target.shape)}. Input has shape "
            f"{list(input.shape)}."
        )
    classes = input.size(-1)
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    if target.dtype != C.int64:
        raise RuntimeError(f"expected scalar type Long but found {scalar_type(target)}")
    index = target.reshape(*input.shape[:-1], 1)
    loss = (margin - input.gather(-1, index) + input).clamp(min=0)
    loss = loss if p == 1 else loss * loss
    loss = loss if weight is None else loss * weight[index]
    loss = loss.masked_fill(C.arange(classes, device=input.device) == index, 0.0)
    loss = loss.sum(-1) / classes
    return reduced(loss.reshape(target.shape) if input.dim() == 1 and reduction == "none" else loss, reduction)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Each row of target lists the classes of a sample; -1 ends the list."""
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    check_reduction(reduction)
    input = C._in_single(input)
    input, target = _scores(input, target)
    if target.shape != input.shape:
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    if target.dtype != C.int64:
        raise RuntimeError(f"expected scalar type Long but found {scalar_type(target)}")
    classes = input.size(-1)
    if bool(((target < -1) | (target >= classes)).any()):
        raise RuntimeError("argument #2 'target' is out of range")
    listed = (target >= 0).to(C.int64).cumprod(-1)
    index = target.clamp(min=0)
    wanted = C.zeros(input.shape, dtype=C.int64).scatter_add(-1, index, listed) > 0
    too_close = (1 - input.gather(-1, index).unsqueeze(-1) + input.unsqueeze(-2)).clamp(min=0)
    counts = (listed > 0).unsqueeze(-1) & ~wanted.unsqueeze(-2)
    return reduced(C.where(counts, too_close, 0.0).sum((-2, -1)) / classes, reduction)


# ---- distances ------------------------------------------------------------------------------------------------------
def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    input, target = C._in_single(input, target)
    far = C.where(target != 1, (margin - input).clamp(min=0), 0.0)
    near = C.where(target != -1, input, 0.0)
    return reduced(far + near, reduction)


def margin_ranking_loss(input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    input1, input2, target = C._in_single(input1, input2, target)
    return reduced((-target * (input1 - input2) + margin).clamp(min=0), reduction)


def _check_pairs(input1, input2, target):
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.dim() != target.dim() + 1 or input2.dim() != target.dim() + 1:
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )


def cosine_embedding_loss(input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    _check_pairs(input1, input2, target)
    input1, input2, target = C._in_single(input1, input2, target)
    products = (input1 * input2).sum(-1)
    lengths = (((input1 * input1).sum(-1) + 1e-12) * ((input2 * input2).sum(-1) + 1e-12)).sqrt()
    cosine = products / lengths
    same = C.where(target == 1, 1 - cosine, 0.0)
    different = C.where(target == -1, (cosine - margin).clamp(min=0), 0.0)
    return reduced(same + different, reduction)


def _check_triplet(anchor, positive, negative, margin):
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"
):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    _check_triplet(anchor, positive, negative, margin)
    anchor, positive, negative = C._in_single(anchor, positive, negative)
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = C.minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduced((margin + near - far).clamp(min=0), reduction)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    distance = pairwise_distance if distance_function is None else distance_function
    _check_triplet(anchor, positive, negative, margin)
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = C.minimum(far, distance(positive, negative))
    return reduced((margin + near - far).clamp(min=0), reduction)
