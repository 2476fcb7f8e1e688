"""Which function stands for an op of the engine when an operand is sparse."""

import _terra_C as C

from . import _arithmetic, _compressed, _creation, _products, _reductions, _shapes
from ._compressed import CompressedTensor, in_place, through_coo
from ._refusals import refusal
from ._tensor import Sparse, SparseTensor, coo

FUNCTIONS = {
    **_arithmetic.FUNCTIONS, **_products.FUNCTIONS, **_reductions.FUNCTIONS, **_shapes.FUNCTIONS, **_creation.FUNCTIONS,
}  # fmt: skip


def torch_function(cls, func, types, args=(), kwargs=None):
    """What an op gives of which some operand is sparse. Functions in Python are made of such ops."""
    options = kwargs or {}
    if isinstance(func, C.Overridable):
        return func.__wrapped__(*args, **options)
    out = options.pop("out", None)
    result = find(func.__name__, args)(*args, **options)
    if out is None:
        return result
    return out._become(result) if isinstance(out, Sparse) else out.copy_(result)


def find(name, operands):
    """The function for the op of that name."""
    function = FUNCTIONS.get(name)
    if function is None:
        raise refusal(name)
    for operand in operands:
        if isinstance(operand, CompressedTensor):
            return _for_compressed(name)
    return function


def _for_compressed(name):
    if name in ("t", "transpose", "swapaxes", "swapdims"):
        return _compressed.transpose
    if name in ("zeros_like", "empty_like"):
        return lambda input, **options: through_coo(FUNCTIONS[name])(input, **options)
    if name.endswith("_") and name != "add_" and name != "sub_":
        return in_place(FUNCTIONS[name.rstrip("_")])
    return through_coo(FUNCTIONS[name])


_OPERATORS = {
    "__add__": _arithmetic.add, "__sub__": _arithmetic.sub, "__mul__": _arithmetic.mul, "__truediv__": _arithmetic.div,
    "__floordiv__": _arithmetic.floor_divide, "__pow__": _arithmetic.pow, "__matmul__": _products.matmul,
    "__iadd__": _arithmetic.add_, "__isub__": _arithmetic.sub_, "__imul__": _arithmetic.mul_,
    "__itruediv__": FUNCTIONS["div_"], "__ifloordiv__": FUNCTIONS["floor_divide_"], "__ipow__": FUNCTIONS["pow_"],
    "__neg__": FUNCTIONS["neg"], "__pos__": FUNCTIONS["positive"], "__abs__": FUNCTIONS["abs"],
}  # fmt: skip
_REFLECTED = {
    "__radd__": _arithmetic.add, "__rsub__": _arithmetic.sub, "__rmul__": _arithmetic.mul,
    "__rtruediv__": _arithmetic.div, "__rfloordiv__": _arithmetic.floor_divide, "__rpow__": _arithmetic.pow,
    "__rmatmul__": _products.matmul,
}  # fmt: skip


FUNCTIONS |= _OPERATORS  # of dense tensors, with a sparse right operand


def _swapped(function):
    return lambda self, other: function(other, self)


def _install():
    """Operators go straight to the functions; so do the dense tensors' with a sparse right operand."""
    Sparse.__torch_function__ = classmethod(torch_function)
    for name, function in _OPERATORS.items():
        setattr(SparseTensor, name, function)
        setattr(CompressedTensor, name, through_coo(function))
    for name, function in _REFLECTED.items():
        setattr(SparseTensor, name, _swapped(function))
        setattr(CompressedTensor, name, _swapped(through_coo(function)))
    for name, function in FUNCTIONS.items():
        if (
            not isinstance(vars(C.Tensor).get(name), C.OpMethod)
            and hasattr(C.Tensor, name)
            and name not in vars(SparseTensor)
        ):
            setattr(SparseTensor, name, function)
    SparseTensor.__getitem__ = _shapes.getitem
    SparseTensor.sparse_mask = _creation.sparse_mask
    CompressedTensor.__getitem__ = through_coo(_shapes.getitem)
    CompressedTensor.T = property(_compressed.transpose)
    for name, function in _shapes.PROPERTIES.items():
        setattr(SparseTensor, name, property(function))


_install()


def total(a, b, in_place):
    """The sum of two gradients, for the tape. A sparse one is never changed: others may hold it. Where somebody sees it, it's an
    op."""
    if C._dispatches(type(a)) or C._dispatches(type(b)) or C._asked_of_dispatch()[0]:
        return a.add_(b) if in_place else a + b
    if in_place and a.layout is C.strided:
        return _arithmetic.add_(a, b)
    if not isinstance(a, Sparse):
        return _arithmetic.add(a, b)
    if not isinstance(b, Sparse):
        return _arithmetic.add(b, a)
    return a._with(a._elements + b._elements) if _arithmetic.same_places(a, b) else _arithmetic.joined(a, b)


def to_dense(a):
    return a.to_dense() if isinstance(a, Sparse) else a


def kept(gradient, ours):
    """A first gradient as .grad keeps it; `ours`: nobody else has it."""
    return gradient.detach() if ours else gradient.detach().clone()


def rows(values, places, count, padding):
    """A sparse gradient of a table with so many rows: one entry for each row that was looked up, in their order."""
    places, values = places.reshape(-1).to(C.int64), values.reshape(-1, values.shape[-1])
    if padding < 0:
        values = values.clone()  # .grad has memory of its own
    else:
        kept = (places != padding).nonzero().squeeze(1)
        places, values = places.index_select(0, kept), values.index_select(0, kept)
    return coo(places.unsqueeze(0), values, (count, values.shape[-1]))


C._set_sparse_hooks(total, to_dense, kept, rows)
