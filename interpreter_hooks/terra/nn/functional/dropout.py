"""Dropout. The mask is drawn from the default generator in the order in which PyTorch draws it."""

import warnings

import _terra_C as C

records = C._functional

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

ALPHA = -1.7580993408473766  # where SELU's negative branch saturates


def _check(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input, p=0.5, training=True, inplace=False):
    _check(p)
    if training and 0 < p < 1:  # p may vary between runs of a graph
        mask = records.dropout_mask(input, p)
        return input.mul_(mask) if inplace else input * mask
    if inplace:
        return input.mul_(records.dropout(C.ones_like(input), p, training)) if training else input
    return records.dropout(input, p, training)


def _per_channel(make, input):
    """A tensor of one entry for each of the first two dimensions, made by `make`."""
    return make([*input.shape[:2], *([1] * (input.dim() - 2))], device=input.device, dtype=input.dtype)


def _feature_dropout(input, p, training, inplace):
    """Whole channels are dropped: one draw per entry of the first two dimensions."""
    _check(p)
    if input.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    if not training or p == 0:
        return input
    p = float(p)  # a tensor would be asked element by element
    noise = _per_channel(C.zeros, input) if p == 1 else _per_channel(C.empty, input).bernoulli_(1 - p).div_(1 - p)
    return input.mul_(noise) if inplace else input * noise


def dropout1d(input, p=0.5, training=True, inplace=False):
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension (i.e. 2D or 3D inputs)."
        )
    if input.dim() == 2:
        return _feature_dropout(input.unsqueeze(0), p, training, inplace).squeeze(0)
    return _feature_dropout(input, p, training, inplace)


def _warn_of_rank(name, input, spatial, ranks):
    """What lacks a dimension, or has one too many, drops elements."""
    kinds = " or ".join([f"{rank}D" for rank in ranks])
    warnings.warn(
        f"{name}: Received a {input.dim()}-D input to {name}, which is deprecated and will result in an error in a future "
        f"release. To retain the behavior and silence this warning, please use dropout instead. Note that {name} exists to "
        f"provide channel-wise dropout on inputs with {spatial} spatial dimensions, a channel dimension, and an optional "
        f"batch dimension (i.e. {kinds} inputs).",
        stacklevel=3,
    )


def dropout2d(input, p=0.5, training=True, inplace=False):
    if input.dim() not in (3, 4):
        _warn_of_rank("dropout2d", input, 2, (3, 4))
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - "
            "input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future "
            "release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
            "channel-wise dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _feature_dropout(input, p, training, inplace)


def dropout3d(input, p=0.5, training=True, inplace=False):
    if input.dim() not in (4, 5):
        _warn_of_rank("dropout3d", input, 3, (4, 5))
    if input.dim() != 5:
        return _feature_dropout(input.unsqueeze(0), p, training, inplace).squeeze(0)
    return _feature_dropout(input, p, training, inplace)


def _alpha(input, p, training, inplace, fresh):
    """Dropped values become SELU's negative limit; scale and shift keep mean 0 and variance 1. What is dropped is drawn
    into fresh()."""
    _check(p)
    if not training or p == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    p = float(p)
    keep = fresh().bernoulli_(1 - p)
    scale = 1.0 / ((ALPHA * ALPHA * p + 1) * (1 - p)) ** 0.5
    result = input * (keep * scale) + ((1 - keep) * (ALPHA * scale) - ALPHA * scale * p)
    return input.copy_(result) if inplace else result


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    return _alpha(input, p, training, inplace, lambda: C.empty_like(input))


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    return _alpha(input, p, training, inplace, lambda: _per_channel(C.empty, input))
