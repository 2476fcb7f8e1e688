"""The focal loss of scores."""

import _terra_C as C

from ...nn import functional as F

__all__ = ["sigmoid_focal_loss"]


def reduced(loss, reduction):
    """The loss of each example, their mean or their sum."""
    if reduction == "none":
        return loss
    if reduction == "mean":
        return loss.mean() if loss.numel() > 0 else 0.0 * loss.sum()
    if reduction == "sum":
        return loss.sum()
    raise ValueError(
        f"Invalid Value for arg 'reduction': '{reduction} \n Supported reduction modes: 'none', 'mean', 'sum'"
    )


def sigmoid_focal_loss(inputs, targets, alpha=0.25, gamma=2, reduction="none"):
    """Binary cross entropy of scores, in which examples that are easy count little."""
    if not 0 <= alpha <= 1 and alpha != -1:
        raise ValueError(f"Invalid alpha value: {alpha}. alpha must be in the range [0,1] or -1 for ignore.")
    p = C.sigmoid(inputs)
    loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    loss = loss * ((1 - (p * targets + (1 - p) * (1 - targets))) ** gamma)
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    return reduced(loss, reduction)
