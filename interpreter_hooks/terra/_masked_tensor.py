"""MaskedTensor: a tensor, some elements of which count for nothing. Ops are those of its data, beside which the mask goes on."""

import _terra_C as C

from . import masked as reductions
from ._C import DisableTorchFunctionSubclass


class MaskedTensor(C.Tensor):
    """`_masked_data` with its own history, and `_masked_mask`, True where an element counts."""

    @staticmethod
    def __new__(cls, data, mask, requires_grad=False):
        if isinstance(data, MaskedTensor) or not isinstance(data, C.Tensor):
            raise TypeError("data must be a Tensor" if not isinstance(data, C.Tensor) else "data must not be a MaskedTensor")
        if mask.dtype != C.bool:
            raise TypeError("mask must have dtype bool.")
        if data.dim() != mask.dim():
            raise ValueError("data.dim() must equal mask.dim()")
        if data.size() != mask.size():
            raise ValueError("data.size() must equal mask.size()")
        with DisableTorchFunctionSubclass():
            made = C._wrapper_tensor(cls, data.detach())
        made._masked_data, made._masked_mask = data.clone().detach().requires_grad_(requires_grad), mask.clone()
        return made

    def __init__(self, data, mask, requires_grad=False):
        """Done by __new__."""

    requires_grad = property(lambda self: self._masked_data.requires_grad)
    grad_fn = property(lambda self: self._masked_data.grad_fn)
    is_leaf = property(lambda self: self._masked_data.is_leaf)
    dtype = property(lambda self: self._masked_data.dtype)

    @property
    def grad(self):
        """That of the elements that count."""
        return None if self._masked_data.grad is None else MaskedTensor(self._masked_data.grad, self._masked_mask)

    def get_data(self):
        return self._masked_data

    def get_mask(self):
        return self._masked_mask

    def to_tensor(self, value):
        """The data, with that number where it is masked."""
        return C.where(self._masked_mask, self._masked_data, C.full_like(self._masked_data, value))

    def backward(self, *args, **kwargs):
        self._masked_data.backward(*args, **kwargs)

    def __repr__(self, *, tensor_contents=None):
        return _text(self)

    __str__ = __repr__

    def __hash__(self):
        return id(self)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in FUNCTIONS:
            return FUNCTIONS[name](*args, **kwargs)
        if name in (
            "__get__",
            "__set__",
            "dim",
            "numel",
            "size",
            "stride",
            "__len__",
            "is_floating_point",
            "is_complex",
            "is_contiguous",
            "ndimension",
            "nelement",
        ):
            with DisableTorchFunctionSubclass():
                return func(*args, **kwargs)
        if isinstance(func, C.Overridable):
            return func.__wrapped__(*args, **kwargs)
        raise TypeError(f"no implementation found for 'torch.{name}' on types that implement __torch_function__: [{cls!r}]")


def _of(data, mask):
    """A masked tensor of the data itself, with its history."""
    made = MaskedTensor(data.detach(), mask)
    made._masked_data, made._masked_mask = data, mask
    return made


def masked_tensor(data, mask, requires_grad=False):
    """A masked tensor of a copy of the data, a leaf."""
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data, mask):
    """A masked tensor of the data, through which gradients pass."""
    made = MaskedTensor(data.detach(), mask)
    made._masked_data = data
    return made


def is_masked_tensor(obj, /):
    return isinstance(obj, MaskedTensor)


def _text(tensor):
    data, mask = tensor._masked_data, tensor._masked_mask
    if mask.dim() == 0:
        value = _element(data.item(), data.dtype) if mask.item() else "--"
        return f"MaskedTensor({value}, {mask.item()})"
    rows = _rows(data.tolist(), mask.tolist(), data.dtype)
    return "MaskedTensor(\n" + "\n".join("  " + line for line in rows.split("\n")) + "\n)"


def _element(value, dtype):
    return f"{value:8.4f}" if dtype.is_floating_point else str(value)


def _rows(data, mask, dtype):
    if not data or not isinstance(data[0], list):
        return "[" + ", ".join(_element(d, dtype) if m else "      --" for d, m in zip(data, mask)) + "]"
    parts = [_rows(d, m, dtype) for d, m in zip(data, mask)]
    return "[\n" + ",\n".join("  " + part.replace("\n", "\n  ") for part in parts) + "\n]"


# ---- ops -------------------------------------------------------------------------------------------------------------
def _data(value):
    return value._masked_data if isinstance(value, MaskedTensor) else value


def _elementwise(name):
    """Each element by itself; operands have one mask."""

    def function(*args, **kwargs):
        operands = [value for value in args if isinstance(value, MaskedTensor)]
        mask = operands[0]._masked_mask
        if any(not C._ops.eq(mask, other._masked_mask).all() for other in operands[1:]):
            raise ValueError("Input masks must match. If you need support for this, please open an issue on Github.")
        return _of(getattr(C.Tensor, name)(*map(_data, args), **kwargs), mask)

    return function


def _in_place(name):
    def function(self, *args, **kwargs):
        getattr(self._masked_data, name)(*map(_data, args), **kwargs)
        return self

    return function


def _moved(name):
    """Data and mask alike, as copies: masked tensors share no memory."""

    def function(self, *args, **kwargs):
        data, mask = (getattr(C.Tensor, name)(part, *args, **kwargs) for part in (self._masked_data, self._masked_mask))
        if isinstance(data, (list, tuple)):
            return tuple(_of(d.clone(), m) for d, m in zip(data, mask))
        return _of(data.clone(), mask)

    return function


def _joined(name):
    def function(tensors, dim=0):
        return _of(*(getattr(C, name)([getattr(t, part) for t in tensors], dim) for part in ("_masked_data", "_masked_mask")))

    return function


def _converted(name):
    return lambda self, *args, **kwargs: _of(getattr(C.Tensor, name)(self._masked_data, *args, **kwargs), self._masked_mask)


def _reduced(name):
    """What counts, reduced; a result counts where any element did."""

    def function(self, dim=None, keepdim=False, *, dtype=None):
        result = getattr(reductions, name)(self._masked_data, dim, keepdim=keepdim, dtype=dtype, mask=self._masked_mask)
        if dim is None:
            return _of(result, self._masked_mask.any())
        return _of(result, self._masked_mask.any(dim, keepdim=keepdim))

    return function


def _softmax(input, dim=None, _stacklevel=3, dtype=None):
    return _of(reductions.softmax(input._masked_data, dim, dtype=dtype, mask=input._masked_mask), input._masked_mask)


def _functions():
    unary = (
        "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "deg2rad", "digamma", "erf", "erfc", "erfinv", "exp", "exp2",
        "expm1", "floor", "frac", "lgamma", "log", "log10", "log1p", "log2", "neg", "positive", "pow", "rad2deg", "reciprocal",
        "round", "rsqrt", "sigmoid", "sign", "sgn", "signbit", "sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
        "clamp", "nan_to_num", "isnan", "ones_like",
    )  # fmt: skip
    binary = (
        "add", "sub", "mul", "div", "atan2", "bitwise_and", "bitwise_or", "bitwise_xor", "floor_divide", "fmod", "remainder",
        "logaddexp", "logaddexp2", "eq", "ne", "le", "ge", "gt", "lt", "maximum", "minimum", "fmax", "fmin", "true_divide",
        "divide",
    )  # fmt: skip
    dunder = (
        "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__", "__pow__", "__neg__",
        "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__mod__", "__floordiv__", "__and__", "__or__", "__xor__",
        "__abs__",
    )  # fmt: skip
    yield from (
        (name, _elementwise(name)) for name in (*unary, *binary, *dunder) if hasattr(C.Tensor, name) and name != "ones_like"
    )
    yield from ((f"{name}_", _in_place(f"{name}_")) for name in (*unary, *binary, "fill", "zero") if hasattr(C.Tensor, f"{name}_"))
    moved = (
        "view", "reshape", "flatten", "t", "transpose", "unsqueeze", "squeeze", "expand", "__getitem__", "contiguous", "clone",
        "detach", "select", "narrow", "split", "chunk", "unbind", "index_select", "gather",
    )  # fmt: skip
    yield from ((name, _moved(name)) for name in moved)
    yield from (
        (name, _converted(name)) for name in ("to", "float", "double", "half", "bfloat16", "long", "int", "bool", "type_as")
    )
    yield from ((name, _reduced(name)) for name in ("sum", "mean", "prod", "amax", "amin", "argmax", "argmin"))
    yield from ((name, _joined(name)) for name in ("cat", "stack"))
    yield "softmax", _softmax
    yield "ones_like", lambda self, **kwargs: _of(C.ones_like(self._masked_data, **kwargs), self._masked_mask)
    yield "requires_grad_", lambda self, value=True: (self._masked_data.requires_grad_(value), self)[1]


FUNCTIONS = dict(_functions())
