"""Sums, products and functions of the values. An operand is sparse, dense or a number; at least one is sparse."""

import _terra_C as C

from ._refusals import refusal
from ._tensor import Sparse, coo, numbered

ops = C._ops  # index_put of them writes the places that are named, the function of that name may copy the tensor


def is_sparse(value):
    return isinstance(value, Sparse)


def is_number(value):
    """A number, or a tensor that stands for one."""
    return not isinstance(value, C.Tensor) or (not isinstance(value, Sparse) and value.dim() == 0)


def _require_size(name, a, b):
    if a.shape != b.shape:
        raise RuntimeError(
            f"{name}: expected sizes of 'self' and 'other' to match, but {list(a.shape)} != {list(b.shape)}"
        )


# ---- sums ----


def _scaled(elements, alpha):
    if isinstance(alpha, float) and not (elements.is_floating_point() or elements.is_complex()):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    return elements if alpha == 1 else elements * alpha


def add(input, other, *, alpha=1):
    if not is_sparse(other):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if not is_sparse(input):
        return _add_to_dense(input, other, alpha)
    _require_size("add", input, other)
    if input.sparse_dim() != other.sparse_dim():
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same number of sparse dimensions, but {input.sparse_dim()} != "
            f"{other.sparse_dim()}"
        )
    if same_places(input, other):
        return input._with(input._elements + _scaled(other._elements, alpha))
    total = joined(input, other, alpha).coalesce()
    return coo(total._places, total._elements, total.shape, input._coalesced and other._coalesced)


def same_places(a, b):
    """Whether entry i of both belongs to one place, for all i."""
    return a._places.shape == b._places.shape and bool((a._places == b._places).all())


def joined(input, other, alpha=1):
    """The entries of both, one after the other."""
    values = _scaled(other._elements, alpha)
    dtype = C.promote_types(input.dtype, values.dtype)
    elements = C.cat([input._elements.to(dtype), values.to(dtype)])
    return coo(C.cat([input._places, other._places], 1), elements, input.shape)


def _add_to_dense(dense, other, alpha):
    if not isinstance(dense, C.Tensor) or dense.shape != other.shape:
        size = list(dense.shape) if isinstance(dense, C.Tensor) else []
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same size, but self has size {size} while other has size "
            f"{list(other.shape)} (FYI: dense-sparse addition does not currently support broadcasting)"
        )
    values = _scaled(other._elements, alpha)
    dtype = C.promote_types(dense.dtype, values.dtype)
    return ops.index_put(dense.to(dtype), other._places.unbind(0), values.to(dtype), True)


def add_(input, other, *, alpha=1):
    """A dense tensor is written at the places of the sparse one only."""
    if is_sparse(input):
        return input._become(add(input, other, alpha=alpha))
    if input.shape != other.shape:
        return _add_to_dense(input, other, alpha)  # raises
    values = _scaled(other._elements, alpha).to(input.dtype)
    return ops.index_put_(input, other._places.unbind(0), values, True)


def sub(input, other, *, alpha=1):
    return add(input, other, alpha=-alpha)


def sub_(input, other, *, alpha=1):
    return add_(input, other, alpha=-alpha)


def rsub(input, other, *, alpha=1):
    return add(other, input, alpha=-alpha)


# ---- products ----


def mul(input, other):
    if not is_sparse(input):
        input, other = other, input
    if is_number(other):
        return input._with(input._elements * other)
    if is_sparse(other):
        return _product_of_sparse(input, other)
    if other.shape != input.shape:
        other = other.expand(input.shape)
    return input._with(input._elements * other[tuple(input._places.unbind(0))])


def found(keys, wanted):
    """(where each wanted key is among the sorted keys, whether it is there)"""
    if keys.shape[0] == 0:
        return C.zeros_like(wanted), C.zeros(wanted.shape, dtype=C.bool)
    at = C.searchsorted(keys, wanted).clamp(max=keys.shape[0] - 1)
    return at, keys.index_select(0, at) == wanted


def _product_of_sparse(input, other):
    """Over the places that both have."""
    _require_size("mul", input, other)
    a, b = input.coalesce(), other.coalesce()
    sizes = a.shape[: a.sparse_dim()]
    if a.sparse_dim() != b.sparse_dim():
        raise refusal("mul")
    at, is_there = found(numbered(b._places, sizes), numbered(a._places, sizes))
    common = a._with_rows(is_there.nonzero().squeeze(1))
    return common._with(common._elements * b._elements.index_select(0, at[is_there]))


def mul_(input, other):
    """A dense tensor keeps its layout: what the sparse one doesn't specify becomes zero."""
    product = mul(input, other)
    return input._become(product) if is_sparse(input) else input.copy_(product.to_dense())


def _require_scalar(other, what="division"):
    if not is_number(other):
        raise RuntimeError(
            f"Sparse {what} requires a scalar or zero-dim dense tensor divisor (got shape {list(other.shape)} for "
            "divisor)"
        )


def div(input, other, *, rounding_mode=None):
    if not is_sparse(input):
        raise refusal("reciprocal" if is_number(input) else "div")
    _require_scalar(other)
    if rounding_mode is not None:
        input = input.coalesce()
    return input._with(C.div(input._elements, other, rounding_mode=rounding_mode))


def floor_divide(input, other):
    if not is_sparse(input):
        raise refusal("floor_divide")
    _require_scalar(other, "floor division")
    input = input.coalesce()
    return input._with(C.floor_divide(input._elements, other))


def pow(input, exponent):
    if not is_sparse(input) or isinstance(exponent, C.Tensor) and not is_number(exponent):
        raise refusal("pow")
    if exponent == 0:
        raise RuntimeError("pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
    input = input.coalesce()
    return input._with(input._elements**exponent)


# ---- functions of each value that are zero at zero ----

_OF_VALUES = (
    "abs", "absolute", "arcsin", "arcsinh", "arctan", "arctanh", "asin", "asinh", "atan", "atanh", "ceil", "deg2rad",
    "erf", "erfinv", "expm1", "fix", "floor", "frac", "isinf", "isnan", "isneginf", "isposinf", "log1p", "nan_to_num",
    "rad2deg", "relu", "round", "sgn", "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
)  # fmt: skip
_LINEAR = ("conj", "conj_physical", "neg", "negative", "positive", "resolve_conj", "resolve_neg")
NOT_IN_PLACE = frozenset(
    ("isinf", "isnan", "isneginf", "isposinf", "positive", "resolve_conj", "resolve_neg", "signbit", "conj")
)


def _of_values(name, linear):
    method = getattr(C.Tensor, name)

    def function(input, *arguments, **options):
        if not linear:
            input = input.coalesce()
        return input._with(method(input._elements, *arguments, **options))

    function.__name__ = function.__qualname__ = name
    return function


def in_place(function):
    """The form that gives its result to the first operand."""

    def changing(input, *arguments, **options):
        if function.__name__ in _OF_VALUES and not input._coalesced:
            raise RuntimeError(f"{function.__name__}_: in-place on uncoalesced tensors is not supported")
        return input._become(function(input, *arguments, **options))

    changing.__name__ = changing.__qualname__ = function.__name__ + "_"
    return changing


VALUE_FUNCTIONS = {name: _of_values(name, False) for name in _OF_VALUES}
VALUE_FUNCTIONS |= {name: _of_values(name, True) for name in _LINEAR}


def copy_(input, source, non_blocking=False):
    raise RuntimeError(
        f"copy_() between dense and sparse Tensors is not implemented! Found self type = {input.type()} and src type "
        f"= {source.type()}"
    )


FUNCTIONS = {
    **VALUE_FUNCTIONS,
    "add": add, "sub": sub, "subtract": sub, "rsub": rsub, "mul": mul, "multiply": mul, "div": div, "divide": div,
    "true_divide": div, "floor_divide": floor_divide, "pow": pow,
}  # fmt: skip
FUNCTIONS |= {name + "_": in_place(f) for name, f in FUNCTIONS.items() if name not in NOT_IN_PLACE}
FUNCTIONS |= {"add_": add_, "sub_": sub_, "subtract_": sub_, "mul_": mul_, "multiply_": mul_, "copy_": copy_}
