"""Quantized tensors: integers with a scale and a zero point, or with one of each for every slice along an axis. To the engine they
are wrappers; what an op gives of them is said here."""

import math

import _terra_C as C

from .._C import DisableTorchFunctionSubclass
from .kinds import OF_STORAGE, STORAGE, limits, per_channel_affine, per_channel_affine_float_qparams, per_tensor_affine


class QuantizedTensor(C.Tensor):
    """`_values` are the integers; `_scale` and `_zero_point` numbers, or tensors where `_axis` isn't None."""

    is_quantized = property(lambda self: True)
    dtype = property(lambda self: OF_STORAGE[self._values.dtype])
    layout = property(lambda self: C.strided)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name in FUNCTIONS:
            return FUNCTIONS[name](*args, **(kwargs or {}))
        if name in _OF_ANY or isinstance(func, C.Overridable) and name not in _REFUSED:
            if isinstance(func, C.Overridable):
                return func.__wrapped__(*args, **(kwargs or {}))
            with DisableTorchFunctionSubclass():
                return func(*args, **(kwargs or {}))
        raise NotImplementedError(f"Could not run 'aten::{name}' with arguments from the 'QuantizedCPU' backend.")

    def __reduce_ex__(self, protocol):
        return made, (self._values, self._scale, self._zero_point, self._axis)

    def __deepcopy__(self, memo):
        return _like(self, self._values.clone())

    def __repr__(self, *, tensor_contents=None):
        return text_of(self)

    __str__ = __repr__

    def __format__(self, spec):
        return repr(self)

    def __hash__(self):
        return id(self)


_OF_ANY = frozenset((
    "__get__", "__set__", "__len__", "dim", "element_size", "is_complex", "is_contiguous", "is_same_size", "ndimension",
    "nelement", "numel", "size", "storage_offset", "stride", "is_shared", "is_pinned", "requires_grad_", "get_device",
))  # fmt: skip
_REFUSED = frozenset(("__array__",))


def made(values, scale, zero_point, axis=None):
    """The quantized tensor of these integers."""
    with DisableTorchFunctionSubclass():
        tensor = C._wrapper_tensor(QuantizedTensor, values)
    tensor._values, tensor._scale, tensor._zero_point, tensor._axis = values, scale, zero_point, axis
    return tensor


def _like(tensor, values):
    return made(values, tensor._scale, tensor._zero_point, tensor._axis)


# ---- from numbers and back -------------------------------------------------------------------------------------------
def _rounded(values, dtype):
    return values.double().clamp(*limits(dtype)).to(STORAGE[dtype])


def _check(input, dtype):
    if input.dtype != C.float32:
        raise RuntimeError(f"Quantize only works on Float Tensor, got {str(input.dtype).split('.')[-1].capitalize()}")
    if dtype not in STORAGE:
        raise RuntimeError(f"quantized tensors are of quint8, qint8 or qint32, got {dtype}")


def quantize_per_tensor(input, scale, zero_point, dtype):
    """Each element to the nearest multiple of the scale, counted from the zero point; of lists a list."""
    if isinstance(input, (list, tuple)):
        return [quantize_per_tensor(each, s.item(), z.item(), dtype) for each, s, z in zip(input, scale, zero_point)]
    _check(input, dtype)
    scale, zero_point = float(scale), int(zero_point)
    low, high = limits(dtype)
    if not low <= zero_point <= high:
        raise RuntimeError(
            f"quantize_tensor_per_tensor_affine zero_point {zero_point} is {'below lower' if zero_point < low else 'above upper'} bound."
        )
    counted = (input.detach() * (C.ones(()) / C.tensor(scale, dtype=C.float32))).round()
    return made(_rounded(counted + zero_point, dtype), scale, zero_point)


def quantize_per_channel(input, scales, zero_points, axis, dtype):
    """The same with a scale and a zero point for each slice along the axis."""
    _check(input, dtype)
    if scales.dim() != 1 or scales.numel() != zero_points.numel() or scales.numel() != input.size(axis):
        raise RuntimeError("length of scales must equal to channel, and that of zero_points too")
    sizes = [1] * input.dim()
    sizes[axis] = -1
    inverse = (C.ones(()) / scales.float()).view(sizes)
    if zero_points.dtype.is_floating_point:
        counted = (input.detach() * inverse + zero_points.float().view(sizes)).round()
        return made(_rounded(counted, dtype), scales.float(), zero_points.float(), axis)
    counted = (input.detach() * inverse).round() + zero_points.view(sizes)
    return made(_rounded(counted, dtype), scales.double(), zero_points.long(), axis)


SMALL_SCALE = 6.1e-5


def chosen_parameters(low, high, qmin, qmax, symmetric=False):
    """(scale, zero point) with which numbers from low to high, and 0, become integers from qmin to qmax."""
    if symmetric and low < 0 and high > 0:
        half = (qmax - qmin) // 2
        factor = max(abs(low / -(half + 1)), abs(high / half))
        low, high = factor * -(half + 1), factor * half
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (high - low) / (qmax - qmin)
    if _single(scale) == 0.0 or math.isinf(1.0 / _single(scale)):
        scale = 0.1
    if scale < SMALL_SCALE:
        grown = SMALL_SCALE / scale
        scale = SMALL_SCALE
        if low == 0.0:
            high = SMALL_SCALE * (qmax - qmin)
        elif high == 0.0:
            low = -SMALL_SCALE * (qmax - qmin)
        else:
            low, high = low * grown, high * grown
    from_low, from_high = qmin - low / scale, qmax - high / scale
    by_low = abs(qmin) + abs(low / scale) < abs(qmax) + abs(high / scale)
    zero = from_low if by_low else from_high
    if symmetric and low < 0 and high > 0:
        zero = (qmin + qmax) / 2.0
    return scale, min(max(round(zero), qmin), qmax)


def _single(number):
    return C.tensor(number, dtype=C.float32).item()


def quantize_per_tensor_dynamic(input, dtype, reduce_range):
    """With the scale and zero point of its least and its greatest element; reduce_range: of one bit less."""
    low, high = (each.item() for each in C.aminmax(input.detach())) if input.numel() else (0.0, 0.0)
    qmin, qmax = limits(dtype)
    if reduce_range:
        qmin, qmax = (qmin // 2, qmax // 2)
    return quantize_per_tensor(input, *chosen_parameters(low, high, qmin, qmax), dtype)


def dequantize(input):
    """The numbers that the integers stand for."""
    if isinstance(input, (list, tuple)):
        return [dequantize(each) for each in input]
    if not isinstance(input, QuantizedTensor):
        return input.to(C.float32)
    if input._axis is None:
        return (input._values.to(C.float32) - input._zero_point) * _single(input._scale)
    sizes = [1] * input._values.dim()
    sizes[input._axis] = -1
    scale, zero_point = input._scale.float().view(sizes), input._zero_point.float().view(sizes)
    return (input._values.to(C.float32) - zero_point) * scale


def _only(per_channel, name):
    def check(input):
        if (input._axis is not None) != per_channel:
            raise RuntimeError(
                f"Expected quantizer->qscheme() == k{'PerChannel' if per_channel else 'PerTensor'}Affine to be true, but got false: {name}"
            )

    return check


def _parameter(name, attribute, per_channel):
    check = _only(per_channel, name)

    def parameter(self):
        check(self)
        return getattr(self, attribute)

    return parameter


def qscheme_of(self):
    if self._axis is None:
        return per_tensor_affine
    return per_channel_affine_float_qparams if self._zero_point.dtype.is_floating_point else per_channel_affine


def text_of(tensor):
    """tensor(numbers, size=(2, 3), dtype=torch.quint8, quantization_scheme=torch.per_tensor_affine, scale=0.1, zero_point=10)"""
    indent = " " * len("tensor(")
    text = "tensor(" + repr(dequantize(tensor))[len("tensor(") : -1]
    parts = [
        f"size={tuple(tensor._values.shape)}",
        f"dtype={tensor.dtype}",
        f"quantization_scheme={qscheme_of(tensor)}",
        f"scale={tensor._scale}",
    ]
    parts += [f"zero_point={tensor._zero_point}"] + ([f"axis={tensor._axis}"] if tensor._axis is not None else [])
    used = len(text) - text.rfind("\n") + 1
    for part in parts:
        if used + len(part) + 2 > 80:
            text, used = f"{text},\n{indent}{part}", len(indent) + len(part)
        else:
            text, used = f"{text}, {part}", used + len(part) + 2
    return text + ")"


# ---- ops -------------------------------------------------------------------------------------------------------------
def _moved(name):
    """An op that moves elements, the scales of which stay where they are."""

    def function(self, *args, **kwargs):
        if self._axis is not None and name not in ("clone", "contiguous", "detach"):
            raise RuntimeError("Setting strides is possible only on uniformly quantized tensor")
        result = getattr(C.Tensor, name)(self._values, *args, **kwargs)
        if isinstance(result, (list, tuple)):
            return type(result)(_like(self, part) for part in result)
        return _like(self, result)

    return function


def getitem(self, index):
    values = self._values[index]
    if self._axis is None:
        return _like(self, values)
    if isinstance(index, int) and self._axis == 0:
        return made(values, float(self._scale[index]), int(self._zero_point[index]))
    raise NotImplementedError("a tensor quantized per channel is indexed by one number")


def _by_numbers(function):
    """An op that is computed in numbers, and rounded with the scale and zero point of its first operand."""

    def rounded(self, *args, **kwargs):
        return quantize_per_tensor(function(dequantize(self), *args, **kwargs), self._scale, self._zero_point, self.dtype)

    return rounded


def _in_numbers(name):
    """An op whose results are numbers, or of which only the order counts."""

    def function(self, *args, **kwargs):
        return getattr(C.Tensor, name)(
            dequantize(self), *(dequantize(a) if isinstance(a, QuantizedTensor) else a for a in args), **kwargs
        )

    return function


def _limited(self, low=None, high=None):
    """The elements between two numbers."""
    count = lambda number: round(number / self._scale) + self._zero_point  # noqa: E731
    least, greatest = limits(self.dtype)
    low, high = least if low is None else count(low), greatest if high is None else count(high)
    return _like(self, self._values.clamp(max(low, least), min(high, greatest)))


def relu(input, inplace=False):
    result = _like(input, input._values.clamp(min=input._zero_point))
    return copy_(input, result) if inplace else result


def copy_(self, source, non_blocking=False):
    if not isinstance(source, QuantizedTensor):
        source = quantize_per_tensor(source, self._scale, self._zero_point, self.dtype)
    self._values.copy_(source._values)
    self._scale, self._zero_point, self._axis = source._scale, source._zero_point, source._axis
    return self


def max_pool2d(input, *args, **kwargs):
    from ..nn.functional import max_pool2d as pool

    return _like(input, pool(input._values.float(), *args, **kwargs).to(input._values.dtype))


def cat(tensors, dim=0):
    first = tensors[0]
    return quantize_per_tensor(C.cat([dequantize(t) for t in tensors], dim), first._scale, first._zero_point, first.dtype)


def _of_scale(function, scale, zero_point):
    """An op whose results lie in a range of their own."""
    return lambda self: quantize_per_tensor(function(dequantize(self)), scale, zero_point, self.dtype)


def equal(self, other):
    same = isinstance(other, QuantizedTensor) and self.dtype is other.dtype and qscheme_of(self) is qscheme_of(other)
    return same and dequantize(self).equal(dequantize(other))


def _in_order(name):
    """An op that picks elements by their order."""

    def function(self, *args, **kwargs):
        result = getattr(C.Tensor, name)(self._values, *args, **kwargs)
        if isinstance(result, C.Tensor):
            return _like(self, result)
        return type(result)((_like(self, result[0]), result[1]))

    return function


def to(self, *args, **kwargs):
    if any(isinstance(value, C.dtype) for value in (*args, *kwargs.values())):
        raise RuntimeError("a quantized tensor is converted by dequantize()")
    return self


def _functions():
    moved = (
        "view",
        "reshape",
        "flatten",
        "squeeze",
        "unsqueeze",
        "expand",
        "contiguous",
        "clone",
        "detach",
        "narrow",
        "select",
        "chunk",
        "split",
        "unbind",
        "repeat",
        "index_select",
        "permute",
        "transpose",
        "t",
    )
    yield from ((name, _moved(name)) for name in moved)
    numbers = (
        "eq", "ne", "lt", "le", "gt", "ge", "argmax", "argmin", "item", "isnan", "allclose", "__eq__", "__ne__",
        "__lt__", "__le__", "__gt__", "__ge__", "numpy", "__bool__", "__float__", "any", "all", "is_nonzero",
    )  # fmt: skip
    yield from ((name, _in_numbers(name)) for name in numbers if hasattr(C.Tensor, name))
    yield from ((name, _in_order(name)) for name in ("max", "min", "topk", "sort"))
    for name in ("mean", "std", "sum"):
        yield name, _by_numbers(getattr(C, name))
    from ..nn import functional as layers

    for name in (
        "adaptive_avg_pool2d",
        "avg_pool2d",
        "avg_pool1d",
        "leaky_relu",
        "interpolate",
        "upsample",
        "pad",
        "hardswish",
        "elu",
    ):
        yield name, _by_numbers(getattr(layers, name))
    yield from {
        "dequantize": dequantize, "int_repr": lambda self: self._values.clone(), "q_scale": _parameter("q_scale", "_scale", False),
        "q_zero_point": _parameter("q_zero_point", "_zero_point", False), "qscheme": qscheme_of,
        "q_per_channel_scales": _parameter("q_per_channel_scales", "_scale", True),
        "q_per_channel_zero_points": _parameter("q_per_channel_zero_points", "_zero_point", True),
        "q_per_channel_axis": _parameter("q_per_channel_axis", "_axis", True),
        "__getitem__": getitem, "relu": relu,
        "relu_": lambda self: relu(self, True), "relu6": lambda self, inplace=False: _limited(self, 0.0, 6.0), "copy_": copy_,
        "hardtanh": lambda self, min_val=-1.0, max_val=1.0, inplace=False: _limited(self, min_val, max_val),
        "clamp": lambda self, min=None, max=None: _limited(self, min, max), "max_pool2d": max_pool2d, "cat": cat,
        "sigmoid": _of_scale(C.sigmoid, 1 / 256, 0), "tanh": _of_scale(C.tanh, 2 / 256, 128), "equal": equal, "to": to,
        "hardsigmoid": _of_scale(layers.hardsigmoid, 1 / 256, 0), "cpu": lambda self: self, "is_floating_point": lambda self: False,
        "dropout": lambda self, p=0.5, training=True, inplace=False: self, "share_memory_": lambda self: self,
    }.items()  # fmt: skip


FUNCTIONS = dict(_functions())


def _of_one(name):
    """torch.q_scale(x) for x.q_scale()."""

    def function(input):
        return getattr(input, name)()

    function.__name__ = function.__qualname__ = name
    return function


int_repr, q_scale, q_zero_point = _of_one("int_repr"), _of_one("q_scale"), _of_one("q_zero_point")
q_per_channel_scales, q_per_channel_axis = _of_one("q_per_channel_scales"), _of_one("q_per_channel_axis")
q_per_channel_zero_points = _of_one("q_per_channel_zero_points")


# ---- names of PyTorch ------------------------------------------------------------------------------------------------
def _make_per_tensor_quantized_tensor(input, scale, zero_point):
    return made(input.clone(), float(scale), int(zero_point))


def _make_per_channel_quantized_tensor(input, scale, zero_point, axis):
    return made(input.clone(), scale, zero_point, axis)


def _empty_affine_quantized(*size, scale=1, zero_point=0, dtype=C.quint8, device=None, memory_format=None):
    size = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return made(C.zeros(tuple(size), dtype=STORAGE[dtype]), float(scale), int(zero_point))


def _empty_per_channel_affine_quantized(size, *, scales, zero_points, axis, dtype, device=None):
    return made(C.zeros(tuple(size), dtype=STORAGE[dtype]), scales, zero_points, axis)
