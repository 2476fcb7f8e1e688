"""Activations. `inplace=True` writes the result into the input, as the op's in-place form does."""

import _terra_C as C

ops = C._ops

__all__ = [
    "celu", "elu", "elu_", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "hardtanh_", "leaky_relu", "leaky_relu_", "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6", "relu_",
    "rrelu", "selu", "sigmoid", "silu", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh",
    "tanhshrink", "threshold",
]  # fmt: skip

gelu = ops.gelu
logsigmoid = ops.logsigmoid
softplus = ops.softplus
sigmoid = ops.sigmoid
tanh = ops.tanh

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def _source(input, inplace):
    """What an in-place form computes from: a copy, so that backward finds the values from before the write."""
    return input.clone() if inplace else input


def relu(input, inplace=False):
    return ops.relu_(input) if inplace else ops.relu(input)


def relu_(input):
    return ops.relu_(input)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    x = _source(input, inplace)
    result = ops.leaky_relu(x, negative_slope)
    return input.copy_(result) if inplace else result


def leaky_relu_(input, negative_slope=0.01):
    return leaky_relu(input, negative_slope, inplace=True)


def elu(input, alpha=1.0, inplace=False):
    x = _source(input, inplace)
    result = ops.elu(x, alpha)
    return input.copy_(result) if inplace else result


def elu_(input, alpha=1.0):
    return elu(input, alpha, inplace=True)


def celu(input, alpha=1.0, inplace=False):
    if alpha == 0:
        raise ZeroDivisionError("celu: alpha cannot be 0")
    x = _source(input, inplace)
    result = C.where(x > 0, x, alpha * C.expm1(x / alpha))
    return input.copy_(result) if inplace else result


def selu(input, inplace=False):
    x = _source(input, inplace)
    result = SELU_SCALE * C.where(x > 0, x, SELU_ALPHA * C.expm1(x))
    return input.copy_(result) if inplace else result


def silu(input, inplace=False):
    x = _source(input, inplace)
    result = ops.silu(x)
    return input.copy_(result) if inplace else result


def mish(input, inplace=False):
    x = _source(input, inplace)
    result = ops.mish(x)
    return input.copy_(result) if inplace else result


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    x = _source(input, inplace)
    result = C.clamp(x, min_val, max_val)
    return input.copy_(result) if inplace else result


def hardtanh_(input, min_val=-1.0, max_val=1.0):
    return hardtanh(input, min_val, max_val, inplace=True)


def relu6(input, inplace=False):
    return hardtanh(input, 0.0, 6.0, inplace)


def hardsigmoid(input, inplace=False):
    x = _source(input, inplace)
    result = C.clamp(x / 6 + 0.5, 0.0, 1.0)
    return input.copy_(result) if inplace else result


def hardswish(input, inplace=False):
    x = _source(input, inplace)
    result = x * C.clamp(x + 3, 0.0, 6.0) / 6
    return input.copy_(result) if inplace else result


def hardshrink(input, lambd=0.5):
    return C.where((input > lambd) | (input < -lambd), input, C.zeros_like(input))


def softshrink(input, lambd=0.5):
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return C.where(input > lambd, input - lambd, C.where(input < -lambd, input + lambd, input * 0))


def softsign(input):
    return input / (input.abs() + 1)


def tanhshrink(input):
    return input - input.tanh()


def threshold(input, threshold, value, inplace=False):
    x = _source(input, inplace)
    result = C.where(x > threshold, x, C.full_like(x, value))
    return input.copy_(result) if inplace else result


def prelu(input, weight):
    if weight.numel() != 1:
        channels = input.size(1) if input.dim() > 1 else 1
        if channels != weight.numel():
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} "
                f"and channel size = {channels}."
            )
        weight = weight.view([-1 if d == 1 else 1 for d in range(input.dim())])
    return C.where(input > 0, input, weight * input)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    x = _source(input, inplace)
    slope = C.empty_like(x).uniform_(lower, upper) if training else (lower + upper) / 2
    result = C.where(x >= 0, x, x * slope)
    return input.copy_(result) if inplace else result


def glu(input, dim=-1):
    if input.size(dim) % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {input.size(dim)}")
    a, b = input.chunk(2, dim)
    return a * b.sigmoid()


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    if dim is None:
        dim = implicit_dim("softmax", input.dim(), _stacklevel)
    return ops.softmax(input if dtype is None else input.to(dtype), dim)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    if dim is None:
        dim = implicit_dim("softmin", input.dim(), _stacklevel)
    return softmax(-input, dim, dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    if dim is None:
        dim = implicit_dim("log_softmax", input.dim(), _stacklevel)
    return ops.log_softmax(input if dtype is None else input.to(dtype), dim)


def implicit_dim(name, ndim, stacklevel):
    """The dim of the old form without one."""
    import warnings

    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    gumbels = -C.empty_like(logits).exponential_().log()
    soft = softmax((logits + gumbels) / tau, dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = C.zeros_like(logits).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft
