"""Activations. Nearly all are op records; what is written here is `inplace`, and the old forms."""

import _terra_C as C

records = C._functional

__all__ = [
    "celu", "celu_", "elu", "elu_", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_", "log_softmax", "logsigmoid", "mish", "prelu", "relu",
    "relu6", "relu_", "rrelu", "rrelu_", "selu", "selu_", "sigmoid", "silu", "softmax", "softmin", "softplus",
    "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "threshold_",
]  # fmt: skip

gelu = records.gelu
glu = records.glu
hardshrink = records.hardshrink
logsigmoid = records.logsigmoid
prelu = records.prelu
relu = records.relu
sigmoid = C.sigmoid
softplus = records.softplus
softshrink = records.softshrink
softsign = records.softsign
tanh = C.tanh
tanhshrink = records.tanhshrink

def _written(input, record, *args):
    """An in-place form whose gradient needs the values from before the write: they are kept in a copy."""
    return input.copy_(record(input.clone(), *args))


def celu(input, alpha=1.0, inplace=False):
    return _written(input, records.celu, alpha) if inplace else records.celu(input, alpha)


def elu(input, alpha=1.0, inplace=False):
    return _written(input, records.elu, alpha) if inplace else records.elu(input, alpha)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    return _written(input, records.leaky_relu, negative_slope) if inplace else records.leaky_relu(input, negative_slope)


def hardsigmoid(input, inplace=False):
    return _written(input, records.hardsigmoid) if inplace else records.hardsigmoid(input)


def hardswish(input, inplace=False):
    return _written(input, records.hardswish) if inplace else records.hardswish(input)


def mish(input, inplace=False):
    return _written(input, records.mish) if inplace else records.mish(input)


def relu6(input, inplace=False):
    return _written(input, records.relu6) if inplace else records.relu6(input)


def selu(input, inplace=False):
    return _written(input, records.selu) if inplace else records.selu(input)


def silu(input, inplace=False):
    return _written(input, records.silu) if inplace else records.silu(input)


def _threshold(input, threshold, value, inplace=False):
    args = (threshold, value)
    return _written(input, records.threshold, *args) if inplace else records.threshold(input, *args)


threshold = _threshold


def relu_(input):
    return relu(input, inplace=True)


def celu_(input, alpha=1.0):
    return celu(input, alpha, inplace=True)


def selu_(input):
    return selu(input, inplace=True)


def threshold_(input, threshold, value):
    return _written(input, records.threshold, threshold, value)


def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    return rrelu(input, lower, upper, training, inplace=True)


def elu_(input, alpha=1.0):
    return elu(input, alpha, inplace=True)


def leaky_relu_(input, negative_slope=0.01):
    return leaky_relu(input, negative_slope, inplace=True)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if inplace:
        return _written(input, records.hardtanh, min_val, max_val)
    return records.hardtanh(input, min_val, max_val)


def hardtanh_(input, min_val=-1.0, max_val=1.0):
    return hardtanh(input, min_val, max_val, inplace=True)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    x = input.clone() if inplace else input  # backward reads the values from before the write
    if training:
        x = x.contiguous()
    kinked = C._ops.kinked(x)
    result = kinked * C._ops.rrelu_noise(x, lower, upper) if training else C.where(x > 0, kinked, kinked * ((lower + upper) / 2))
    return C._ops.named(input.copy_(result) if inplace else result, "RreluWithNoiseBackward0")


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    if dim is None:
        dim = implicit_dim("softmax", input.dim(), _stacklevel)
    return C.softmax(input, dim) if dtype is None else C.softmax(input, dim, dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    if dim is None:
        dim = implicit_dim("softmin", input.dim(), _stacklevel)
    return softmax(-input, dim, dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    if dim is None:
        dim = implicit_dim("log_softmax", input.dim(), _stacklevel)
    return C.log_softmax(input, dim) if dtype is None else C.log_softmax(input, dim, dtype=dtype)


def implicit_dim(name, ndim, stacklevel):
    """The dim of the old form without one."""
    import warnings

    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    if eps != 1e-10:
        import warnings

        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbels = -C.empty_like(logits, memory_format=C.contiguous_format).exponential_().log()
    soft = softmax((logits + gumbels) / tau, dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = C.zeros_like(logits).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft
