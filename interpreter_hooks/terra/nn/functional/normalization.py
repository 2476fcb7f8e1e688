"""Normalization."""

import _terra_C as C

records = C._functional

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "normalize", "rms_norm"]


def rms_norm(input, normalized_shape, weight=None, eps=None):
    return records.rms_norm(input, normalized_shape, weight, eps).to(input.dtype)


def _check_more_than_one(shape):
    """Statistics over one value per channel would be that value: training makes no sense."""
    count = shape[0]
    for size in shape[2:]:
        count *= size
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {shape}")


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    if input.dim() == 1 and input.size(0) == 0:
        return input.clone()
    if training:
        _check_more_than_one(input.shape)
        if eps <= 0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    return records.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return records.layer_norm(input, normalized_shape, weight, bias, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    if input.size(1) % num_groups:
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    return records.group_norm(input, num_groups, weight, bias, eps).to(input.dtype)


def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-5
):
    if not use_input_stats:
        return records.batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    if input.numel() == 0:
        return input.clone()
    count = 1
    for size in input.shape[2:]:
        count *= size
    if count == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    if running_mean is not None:
        dims = [0, *range(2, input.dim())]
        per_instance = list(range(2, input.dim()))
        with C.no_grad():
            running_mean.mul_(1 - momentum).add_(input.mean(dims), alpha=momentum)
            running_var.mul_(1 - momentum).add_(input.var(per_instance).mean(0), alpha=momentum)
    result = records.group_norm(input, input.size(1), weight, bias, eps).contiguous().to(input.dtype)
    return C._ops.named(result, "ViewBackward0")


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Each value divided by (k + alpha * mean of squares over `size` neighbouring channels) ** beta."""
    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)"
        )
    if input.numel() == 0:
        return input
    squares = C._in_single(input * input)
    channels = input.size(1)
    before = size // 2
    padding = [0, 0] * (input.dim() - 2) + [before, size - 1 - before]
    padded = C._ops.constant_pad(squares, padding)
    total = padded.narrow(1, 0, channels)
    for offset in range(1, size):
        total = total + padded.narrow(1, offset, channels)
    return input / (total / size * alpha + k).pow(beta)


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    result = input / input.norm(p, dim, keepdim=True).clamp(min=eps).expand_as(input)
    return result if out is None else out.copy_(result)
