"""Functions of layers under the package's own name. They differ from nn.functional's in form: reductions are numbers
(0: none, which is what PyTorch takes where none is given, 1: mean, 2: sum), and weights come before statistics."""

from .nn import functional as F
from .nn._reduction import REDUCTIONS

SAMPLED = ("bilinear", "nearest", "bicubic")
PADDED = ("zeros", "border", "reflection")


# ---- normalization --------------------------------------------------------------------------------------------------
def batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled=True):
    return F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled=True):
    return F.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    return F.group_norm(input, num_groups, weight, bias, eps)


# ---- losses ---------------------------------------------------------------------------------------------------------
def binary_cross_entropy_with_logits(input, target, weight=None, pos_weight=None, reduction=0):
    return F.binary_cross_entropy_with_logits(
        input, target, weight, pos_weight=pos_weight, reduction=REDUCTIONS[reduction]
    )


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=0):
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=REDUCTIONS[reduction])


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=0, zero_infinity=False):
    return F.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, REDUCTIONS[reduction], zero_infinity
    )


def hinge_embedding_loss(input, target, margin=1.0, reduction=0):
    return F.hinge_embedding_loss(input, target, margin, reduction=REDUCTIONS[reduction])


def kl_div(input, target, reduction=0, *, log_target=False):
    loss = F.kl_div(input, target, reduction="none", log_target=log_target)
    return (loss, loss.mean(), loss.sum())[reduction]


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=0):
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=REDUCTIONS[reduction])


def poisson_nll_loss(input, target, log_input, full, eps, reduction):
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=REDUCTIONS[reduction])


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=0):
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=REDUCTIONS[reduction])


# ---- the rest -------------------------------------------------------------------------------------------------------
def adaptive_max_pool1d(input, output_size):
    return F.adaptive_max_pool1d(input, output_size, return_indices=True)


def alpha_dropout(input, p, train):
    return F.alpha_dropout(input, p, train)


def feature_dropout(input, p, train):
    return F.dropout2d(input, p, train)


def feature_alpha_dropout(input, p, train):
    return F.feature_alpha_dropout(input, p, train)


def alpha_dropout_(input, p, train):
    return F.alpha_dropout(input, p, train, True)


def feature_dropout_(input, p, train):
    return F.dropout2d(input, p, train, True)


def feature_alpha_dropout_(input, p, train):
    return F.feature_alpha_dropout(input, p, train, True)


def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners):
    return F.grid_sample(input, grid, SAMPLED[interpolation_mode], PADDED[padding_mode], align_corners)


grid_sampler_2d = grid_sampler_3d = grid_sampler


def constant_pad_nd(input, pad, value=0):
    return F.pad(input, pad, value=value)


def affine_grid_generator(theta, size, align_corners):
    return F.affine_grid(theta, size, align_corners)


def threshold(input, threshold, value):
    return F.threshold(input, threshold, value)
