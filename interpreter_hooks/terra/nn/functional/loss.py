"""Losses. `reduction` is 'none', 'mean' or 'sum'; size_average and reduce are its old form."""

import warnings

import _terra_C as C

records = C._functional

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "cross_entropy",
    "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "margin_ranking_loss", "mse_loss",
    "multi_margin_loss", "multilabel_soft_margin_loss", "nll_loss", "poisson_nll_loss", "smooth_l1_loss",
    "soft_margin_loss", "triplet_margin_loss",
]  # fmt: skip


def old_reduction(size_average, reduce):
    """The reduction that size_average and reduce meant."""
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    reduction = "none" if not reduce else "mean" if size_average else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.", stacklevel=3
    )
    return reduction


def check_reduction(reduction):
    if reduction != "mean" and reduction != "sum" and reduction != "none":
        raise ValueError(f"{reduction} is not a valid value for reduction")


def reduced(loss, reduction):
    check_reduction(reduction)
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def _same_size(input, target):
    """Losses that compare element by element broadcast, which is seldom meant."""
    if input.shape != target.shape:
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
            "This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=3,
        )


def cross_entropy(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    check_reduction(reduction)
    return records.cross_entropy(
        input, target, weight=weight, reduction=reduction, ignore_index=ignore_index, label_smoothing=label_smoothing
    )


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    check_reduction(reduction)
    return records.nll_loss(input, target, weight=weight, reduction=reduction, ignore_index=ignore_index)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    check_reduction(reduction)
    _same_size(input, target)
    if weight is not None:
        return _weighted(records.mse_loss(input, target, reduction="none"), weight, reduction)
    return records.mse_loss(input, target, reduction=reduction)


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    check_reduction(reduction)
    _same_size(input, target)
    if weight is not None:
        return _weighted(records.l1_loss(input, target, reduction="none"), weight, reduction)
    return records.l1_loss(input, target, reduction=reduction)


def _weighted(loss, weight, reduction):
    loss = loss * weight
    return loss.sum() / weight.expand_as(loss).sum() if reduction == "mean" else reduced(loss, reduction)


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    check_reduction(reduction)
    _same_size(input, target)
    if beta == 0.0:
        return records.l1_loss(input, target, reduction=reduction)
    return records.smooth_l1_loss(input, target, reduction=reduction, beta=beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    check_reduction(reduction)
    _same_size(input, target)
    if weight is not None:
        return _weighted(records.huber_loss(input, target, reduction="none", delta=delta), weight, reduction)
    return records.huber_loss(input, target, reduction=reduction, delta=delta)


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    check_reduction(reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is deprecated. "
            "Please ensure they have the same size."
        )
    return records.binary_cross_entropy(input, target, weight=weight, reduction=reduction)


def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    check_reduction(reduction)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return records.binary_cross_entropy_with_logits(
        input, target, weight=weight, reduction=reduction, pos_weight=pos_weight
    )


def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    if reduction == "batchmean":
        return records.kl_div(input, target, reduction=reduction, log_target=log_target)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition.",
            stacklevel=2,
        )
    check_reduction(reduction)
    return records.kl_div(input, target, reduction=reduction, log_target=log_target)


def poisson_nll_loss(
    input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"
):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (6.283185307179586 * target).log()
        loss = loss + C.where(target > 1, stirling, C.zeros_like(loss))
    return reduced(loss, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = C.full_like(input, var)
    if bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    if var.dim() == input.dim() - 1 and tuple(input.shape[:-1]) == tuple(var.shape):
        var = var.unsqueeze(-1)
    with C.no_grad():
        bounded = var.clamp(min=eps) - var
    var = var + bounded
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    return reduced(loss + 0.9189385332046727 if full else loss, reduction)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    return reduced(records.softplus(-target * input), reduction)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    loss = -(target * records.logsigmoid(input) + (1 - target) * records.logsigmoid(-input))
    loss = loss if weight is None else loss * weight
    return reduced(loss.mean(-1), reduction)


def multi_margin_loss(
    input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"
):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    index = target.unsqueeze(-1)
    loss = (margin - input.gather(-1, index) + input).clamp(min=0)
    loss = loss if p == 1 else loss * loss
    loss = loss if weight is None else loss * weight[target].unsqueeze(-1)
    loss = loss.masked_fill(records.one_hot(target, input.size(-1)).to(C.bool), 0.0)
    return reduced(loss.sum(-1) / input.size(-1), reduction)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    zero = C.zeros_like(input)
    far = C.where(target != 1, (margin - input).clamp(min=0), zero)
    near = C.where(target != -1, input, zero)
    return reduced(far + near, reduction)


def margin_ranking_loss(input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    return reduced((-target * (input1 - input2) + margin).clamp(min=0), reduction)


def cosine_embedding_loss(input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    products = (input1 * input2).sum(-1)
    lengths = (((input1 * input1).sum(-1) + 1e-8) * ((input2 * input2).sum(-1) + 1e-8)).sqrt()
    cosine = products / lengths
    loss = C.where(target == 1, 1 - cosine, (cosine - margin).clamp(min=0))
    return reduced(loss, reduction)


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean"
):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    near = (anchor - positive + eps).norm(p, -1)
    far = (anchor - negative + eps).norm(p, -1)
    if swap:
        far = C.minimum(far, (positive - negative + eps).norm(p, -1))
    return reduced((margin + near - far).clamp(min=0), reduction)
