"""Losses by distance and by likelihood. `reduction` is 'none', 'mean' or 'sum'; size_average and reduce are its old
form."""

import warnings

import _terra_C as C

from .. import _reduction

records = C._functional
old_reduction = _reduction.legacy_get_string

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "ctc_loss", "gaussian_nll_loss",
    "huber_loss", "kl_div", "l1_loss", "linear_cross_entropy", "mse_loss", "nll_loss", "poisson_nll_loss",
    "smooth_l1_loss",
]  # fmt: skip


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
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
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
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    check_reduction(reduction)
    return records.kl_div(input, target, reduction=reduction, log_target=log_target)


def poisson_nll_loss(
    input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"
):
    if size_average is not None or reduce is not None:
        reduction = old_reduction(size_average, reduce)
    input, target = C._in_single(input, target)
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (6.283185307179586 * target).log()
        loss = loss + C.where(target > 1, stirling, C.zeros_like(loss))
    return reduced(loss, reduction)


def _fits(var, input):
    """Whether variances have the input's size but for a dimension of 1."""
    different = [have for have, want in zip(var.shape, input.shape) if have != want]
    return var.dim() == input.dim() and (not different or different == [1])


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = C.full_like(input, var)
    elif bool((var < 0).any()):
        raise ValueError("var has negative entry/entries")
    if var.shape == input.shape[:-1] and input.dim() > 0:
        var = var.unsqueeze(-1)
    elif not _fits(var, input):
        raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    with C.no_grad():
        bounded = var.clamp(min=eps) - var
    var = var + bounded
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    return reduced(loss + 0.9189385332046727 if full else loss, reduction)


def linear_cross_entropy(
    input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean", ignore_index=None,
    label_smoothing=0.0, options=None,
):  # fmt: skip
    """cross_entropy of a linear map: weight [classes, ..., in_features]. `options` say how PyTorch saves memory; there
    is nothing to choose here."""
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    classes, *more, width = linear_weight.shape
    if input.size(-1) != width:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.size(-1)} and {width}, respectively"
        )
    if more and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, "
            f"(N, {width}), got unbatched input with shape {tuple(input.shape)}"
        )
    if linear_bias is not None and linear_bias.shape != linear_weight.shape[:-1]:
        raise RuntimeError(
            f"expected linear_bias shape {tuple(linear_weight.shape[:-1])}, got {tuple(linear_bias.shape)}"
        )
    if ignore_index is not None and target.is_floating_point():
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    bias = None if linear_bias is None else linear_bias.reshape(-1)
    logits = records.linear(input, linear_weight.reshape(-1, width), bias).reshape(*input.shape[:-1], classes, *more)
    return cross_entropy(
        logits, target, weight, ignore_index=-100 if ignore_index is None else ignore_index, reduction=reduction,
        label_smoothing=label_smoothing,
    )  # fmt: skip


# ---- sequences without alignment ------------------------------------------------------------------------------------
def _lengths(lengths, name, device):
    if not isinstance(lengths, C.Tensor):
        return C.tensor(list(lengths), device=device, dtype=C.int64)
    if lengths.is_floating_point() or lengths.dtype == C.bool:
        raise RuntimeError(f"{name} must be integral")
    return lengths.to(device, C.int64)


def ctc_loss(
    log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False
):
    """-log of the probability of all ways in which frames [T, N, C] (or [T, C]) read as the targets: one row each, or
    all in a row. 'mean' divides each loss by the length of its target first."""
    check_reduction(reduction)
    single = log_probs.dim() == 2
    input_lengths = _lengths(input_lengths, "input_lengths", log_probs.device)
    target_lengths = _lengths(target_lengths, "target_lengths", log_probs.device)
    if single:
        log_probs = log_probs.unsqueeze(1)
        input_lengths, target_lengths = input_lengths.reshape(1), target_lengths.reshape(1)
    log_probs = C._in_single(log_probs)
    loss = C._ops.ctc_loss_each(
        log_probs, targets.to(C.int64), input_lengths, target_lengths, blank, zero_infinity
    )
    if reduction == "mean":
        return (loss / target_lengths.clamp(min=1).to(loss.dtype)).mean()
    if reduction == "sum":
        return loss.sum()
    return loss.squeeze(0) if single else loss
