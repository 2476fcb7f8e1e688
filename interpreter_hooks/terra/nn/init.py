"""Initial values of parameters. Each function writes into its tensor, draws from the default generator (or `generator`)
in the order in which PyTorch draws, and returns the tensor."""

import math
import warnings

import _terra_C as C

from .._overridable import offer as _offer

_LINEAR = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
_GAINS = {"sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4, **dict.fromkeys(_LINEAR, 1.0)}


def calculate_gain(nonlinearity, param=None):
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif isinstance(param, (int, float)) and not isinstance(param, bool):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    with C.no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    with C.no_grad():
        return tensor.normal_(mean, std, generator=generator)


def constant_(tensor, val):
    with C.no_grad():
        return tensor.fill_(val)


# Models with an initialiser of their own call PyTorch's helpers.
_no_grad_uniform_, _no_grad_normal_, _no_grad_fill_ = uniform_, normal_, constant_


def _no_grad_zero_(tensor):
    with C.no_grad():
        return tensor.zero_()


def ones_(tensor):
    return _no_grad_fill_(tensor, 1.0)


def zeros_(tensor):
    return _no_grad_zero_(tensor)


def eye_(tensor):
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with C.no_grad():
        return tensor.copy_(C.eye(*tensor.shape))


def dirac_(tensor, groups=1):
    """Convolutions that pass their input channels through."""
    dimensions = tensor.dim()
    if dimensions not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups:
        raise ValueError("dim 0 must be divisible by groups")
    per_group = tensor.size(0) // groups
    centre = tuple(size // 2 for size in tensor.shape[2:])
    with C.no_grad():
        tensor.zero_()
        for g in range(groups):
            for d in range(min(per_group, tensor.size(1))):
                tensor[(g * per_group + d, d, *centre)] = 1
    return tensor


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """The normal distribution cut off outside [a, b]."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.",
            stacklevel=2,
        )

    def cdf(x):
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    with C.no_grad():
        if tensor.is_meta:
            return tensor.normal_(mean, std)
        if cdf((b - mean) / std) - cdf((a - mean) / std) > 0.3:
            return tensor.copy_(_kept_normals(tensor, mean, std, a, b, generator))
        return tensor.copy_(_kept_uniforms(tensor, mean, std, a, b, generator))


_no_grad_trunc_normal_ = trunc_normal_


def _kept_normals(tensor, mean, std, a, b, generator):
    """Normal draws; those outside [a, b] are drawn again until none is left."""
    values = C.empty_like(tensor).normal_(mean, std, generator=generator)
    outside = (values < a) | (values > b)
    while outside.any():
        values = C.where(outside, C.empty_like(values).normal_(mean, std, generator=generator), values)
        outside = (values < a) | (values > b)
    return values


def _kept_uniforms(tensor, mean, std, a, b, generator):
    """Uniform draws in [a, b], each kept with the probability of its density over the largest density there."""
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    values, pending = None, None
    while pending is None or pending.any():
        drawn = C.empty_like(tensor).uniform_(a, b, generator=generator)
        density = ((drawn - mean) / std) ** 2 * -0.5 - peak
        refused = C.empty_like(tensor).uniform_(generator=generator).log() > density
        values = drawn if values is None else C.where(pending, drawn, values)
        pending = refused if pending is None else pending & refused
    return values


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = 1
    for size in tensor.shape[2:]:
        field *= size
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def xavier_uniform_(tensor, gain=1.0, generator=None):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(fan_in + fan_out)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _without_elements(tensor):
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return True
    return False


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if _without_elements(tensor):
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    if _without_elements(tensor):
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    return normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor, gain=1, generator=None):
    """A matrix with orthonormal rows or columns: the factor Q of a normal one."""
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    flat = C.empty(rows, columns, device=tensor.device, dtype=tensor.dtype).normal_(0, 1, generator=generator)
    q = _orthonormal_columns(flat if rows >= columns else flat.t())
    with C.no_grad():
        tensor.view(rows, columns).copy_(q if rows >= columns else q.t())
        return tensor.mul_(gain)


def _orthonormal_columns(a):
    """Q of a = QR with a positive diagonal of R."""
    q, r = C._linalg.qr(a)
    return q * r.diagonal().sign()


def sparse_(tensor, sparsity, std=0.01, generator=None):
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = int(math.ceil(sparsity * rows))
    with C.no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[C.randperm(rows)[:zeros], column] = 0
    return tensor


_offer(globals(), ("constant_", "kaiming_uniform_", "normal_", "uniform_"))


def _renamed(function, old):
    def deprecated(*args, **kwargs):
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{function.__name__}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    deprecated.__name__ = old
    return deprecated


uniform = _renamed(uniform_, "uniform")
normal = _renamed(normal_, "normal")
constant = _renamed(constant_, "constant")
eye = _renamed(eye_, "eye")
dirac = _renamed(dirac_, "dirac")
xavier_uniform = _renamed(xavier_uniform_, "xavier_uniform")
xavier_normal = _renamed(xavier_normal_, "xavier_normal")
kaiming_uniform = _renamed(kaiming_uniform_, "kaiming_uniform")
kaiming_normal = _renamed(kaiming_normal_, "kaiming_normal")
orthogonal = _renamed(orthogonal_, "orthogonal")
sparse = _renamed(sparse_, "sparse")
