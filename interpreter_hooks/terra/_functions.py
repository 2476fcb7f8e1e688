"""Functions of the top level that are written in ops: comparisons of whole tensors, products of many, old constructors."""

import functools
import math

import _terra_C as C

__all__ = [
    "allclose", "atleast_1d", "atleast_2d", "block_diag", "broadcast_tensors", "cartesian_prod", "compile", "einsum", "equal",
    "is_floating_point", "is_nonzero", "isin", "meshgrid", "nan_to_num", "numel", "tensordot",
]  # fmt: skip


def equal(input, other):
    """True when both have the same size and elements."""
    if not isinstance(other, C.Tensor):
        raise TypeError(f"equal(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")
    return input.shape == other.shape and bool((input == other).all())


def _into(out, result):
    """What a function with out= gives: the result, or `out` with its elements."""
    return result if out is None else C.clone(result, out=out)


def _listed(tensors):
    """Tensors given one by one, or as one sequence."""
    return list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)


def broadcast_tensors(*tensors):
    return C.broadcast_tensors(_listed(tensors))


def meshgrid(*tensors, indexing=None):
    if indexing is None:
        from ._warnings import warn_once

        warn_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
        indexing = "ij"
    return C.meshgrid(_listed(tensors), indexing=indexing)


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(C.isclose(input, other, rtol, atol, equal_nan).all())


def is_floating_point(input):
    return input.is_floating_point()


def is_nonzero(input):
    return bool(input)


def numel(input):
    return input.numel()


def nan_to_num(input, nan=0.0, posinf=None, neginf=None, *, out=None):
    if input.is_complex():  # each part for itself
        return _into(out, C.view_as_complex(nan_to_num(C.view_as_real(input), nan, posinf, neginf)))
    if not input.is_floating_point():
        return _into(out, input.clone())
    limits = C.finfo(input.dtype)
    high, low = limits.max if posinf is None else posinf, limits.min if neginf is None else neginf
    return _into(out, C._ops.nan_to_num(input, 0.0 if nan is None else nan, high, low))


def isin(elements, test_elements, *, assume_unique=False, invert=False, out=None):
    elements = C.as_tensor(elements)
    if isinstance(test_elements, (bool, int, float, complex)):
        found = elements == test_elements
    else:
        found = (elements.unsqueeze(-1) == C.as_tensor(test_elements).flatten()).any(-1)
    return _into(out, found.logical_not() if invert else found)


def _dimension(dim, rank):
    """A dimension counted from the front."""
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return dim % rank


def tensordot(a, b, dims=2, out=None):
    if not isinstance(dims, (tuple, list, int, C.Tensor)):
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, but "
            f"got dims={dims}"
        )
    if isinstance(dims, C.Tensor):
        dims = int(dims.item()) if dims.numel() == 1 else dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        named = list(range(-dims, 0)), list(range(dims))
    else:
        left, right = dims
        named = left, right
        for name, each, place in (("dims_self", left, 3), ("dims_other", right, 4)):
            if isinstance(each, int):
                raise TypeError(f"tensordot(): argument '{name}' (position {place}) must be tuple of ints, not int")
    if len(named[0]) != len(named[1]):
        raise RuntimeError("both dimension lists should have same length")
    if a.dtype != b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    left, right = ([_dimension(d, t.dim()) for d in ds] for ds, t in zip(named, (a, b)))
    for ds in (left, right):
        for d in ds:
            if ds.count(d) > 1:
                raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    for (x, y), (x_given, y_given) in zip(zip(left, right), zip(*named)):
        if a.size(x) != b.size(y) and 1 not in (a.size(x), b.size(y)):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a.size(x)} in dim {x_given} and second has size "
                f"{b.size(y)} in dim {y_given}"
            )
    for x, y in zip(left, right):  # one element stands for as many as it meets
        if a.size(x) == 1 != b.size(y):
            b = b.sum(y, keepdim=True, dtype=b.dtype)
        elif b.size(y) == 1 != a.size(x):
            a = a.sum(x, keepdim=True, dtype=a.dtype)
    rest_a = [d for d in range(a.dim()) if d not in left]
    rest_b = [d for d in range(b.dim()) if d not in right]
    inner = math.prod(a.size(d) for d in left)
    rows = a.permute([*rest_a, *left]).reshape(-1, inner)
    columns = b.permute([*right, *rest_b]).reshape(inner, -1)
    return _into(out, C.matmul(rows, columns).reshape([*(a.size(d) for d in rest_a), *(b.size(d) for d in rest_b)]))


def _at_least(tensors, widened):
    """One tensor, several, or one sequence of them, with more dimensions where they have too few."""
    result = tuple(widened(t) for t in _listed(tensors))
    return result[0] if len(tensors) == 1 and isinstance(tensors[0], C.Tensor) else result


def atleast_1d(*tensors):
    return _at_least(tensors, lambda t: t.reshape(1) if t.dim() == 0 else t)


def atleast_2d(*tensors):
    return _at_least(tensors, lambda t: t.reshape(1, 1) if t.dim() == 0 else t.unsqueeze(0) if t.dim() == 1 else t)


def cartesian_prod(*tensors):
    if len(tensors) == 1:
        return tensors[0]
    grids = C.meshgrid(list(tensors), indexing="ij")
    return C.stack([grid.flatten() for grid in grids], -1)


def block_diag(*tensors):
    blocks = atleast_2d(*tensors) if len(tensors) > 1 else (atleast_2d(*tensors),)
    out = C.zeros(sum(b.size(0) for b in blocks), sum(b.size(1) for b in blocks), dtype=functools.reduce(C.promote_types, (b.dtype for b in blocks)))
    row = column = 0
    for block in blocks:
        out[row : row + block.size(0), column : column + block.size(1)] = block
        row, column = row + block.size(0), column + block.size(1)
    return C._ops.named(out, "BlockDiagBackward0")


def einsum(equation, *operands):
    """Sums of products by Einstein's convention, two operands at a time from the left."""
    from ._einsum import einsum as evaluate

    return evaluate(equation, *operands)


def compile(model=None, **_):
    """Gives a function back, and a module in one that has it: hot code is captured without being marked. Also a decorator
    with options."""
    if model is None:
        return compile
    from .nn import Module

    if not isinstance(model, Module):
        return model
    from ._dynamo.eval_frame import OptimizedModule

    return OptimizedModule(model._orig_mod if isinstance(model, OptimizedModule) else model)
