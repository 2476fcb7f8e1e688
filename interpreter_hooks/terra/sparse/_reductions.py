"""Sums, norms and softmax over the places that are specified."""

import _terra_C as C

from ._refusals import refusal
from ._tensor import SparseTensor, added, coo, numbered


def wrapped(dim, rank):
    """A dimension counted from the first."""
    if not -max(rank, 1) <= dim < max(rank, 1):
        low, high = -max(rank, 1), max(rank, 1) - 1
        raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")
    return dim + rank if dim < 0 else dim


def _dims(dim, rank):
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    dims = [wrapped(d, rank) for d in dims]
    if len(set(dims)) != len(dims):
        raise RuntimeError(f"dim {dims[0]} appears multiple times in the list of dims")
    return dims


def sum(input, dim=None, keepdim=False, *, dtype=None):
    """Over all dimensions a dense number, over all sparse ones a dense tensor, else a sparse one."""
    elements = input._elements if dtype is None else input._elements.to(dtype)
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return elements.sum(dtype=dtype)
    sparse_dim, dims = input.sparse_dim(), _dims(dim, input.dim())
    dense = [d - sparse_dim + 1 for d in dims if d >= sparse_dim]
    if dense:
        elements = elements.sum(dense, keepdim=keepdim, dtype=dtype)
    kept = [d for d in range(sparse_dim) if d not in dims]
    if not kept and sparse_dim > 0:
        elements = elements.sum(0, dtype=dtype)
        return elements.reshape((1,) * sparse_dim + tuple(elements.shape)) if keepdim else elements
    if keepdim:
        size = [1 if d in dims else n for d, n in enumerate(input.shape)]
        rows = C.stack([C.zeros_like(row) if d in dims else row for d, row in enumerate(input._places.unbind(0))])
    else:
        size = [n for d, n in enumerate(input.shape) if d not in dims]
        rows = input._places[kept]
    return coo(rows, elements, size, input._coalesced and len(kept) == sparse_dim).coalesce()


def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    if dim is not None and len(_dims(dim, input.dim())) != input.dim():
        raise RuntimeError(
            "norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all "
            "dimensions of the input"
        )
    if p == "nuc":
        raise refusal("norm")
    total = input.coalesce()._elements.norm(2 if p in ("fro", None) else p, dtype=dtype)
    return total.reshape((1,) * input.dim()) if keepdim else total


def any(input):
    return input._elements.any()


def _over_entries(input, dim, of_logarithms):
    """Along a sparse dimension: each row of the values with those that differ in that index alone."""
    input = input.coalesce()
    others = [d for d in range(input.sparse_dim()) if d != dim]
    elements, count = input._elements, input._nnz()
    if count == 0:
        return input
    if others:
        keys, group = C.unique(numbered(input._places[others], [input.shape[d] for d in others]), return_inverse=True)
        groups = keys.shape[0]
    else:
        group, groups = C.zeros(count, dtype=C.int64), 1
    spread = group.reshape((-1,) + (1,) * (elements.dim() - 1)).expand(elements.shape)
    low = C.full((groups, *elements.shape[1:]), float("-inf"), dtype=elements.dtype)
    largest = low.scatter_reduce(0, spread, elements.detach(), "amax")
    shifted = elements - largest.index_select(0, group)
    powers = shifted.exp()
    totals = added(powers, group, groups).index_select(0, group)
    return input._with(shifted - totals.log() if of_logarithms else powers / totals)


def _softmax(name, of_logarithms):
    def function(input, dim, *, dtype=None):
        if not isinstance(input, SparseTensor):
            raise refusal(f"_sparse_{name}", "CPU")
        if dtype is not None:
            input = input.to(dtype)
        if not input.is_floating_point():
            raise NotImplementedError(
                f'"{name}" not implemented for '
                f"'{input._elements.type().removeprefix('torch.').removesuffix('Tensor')}'"
            )
        dim = wrapped(dim, input.dim())
        if dim < input.sparse_dim():
            return _over_entries(input, dim, of_logarithms)
        input = input.coalesce()
        return input._with(getattr(C, name)(input._elements, dim - input.sparse_dim() + 1))

    function.__name__ = function.__qualname__ = name
    return function


softmax = _softmax("softmax", False)
softmax.__doc__ = "softmax among the entries that are specified: others count as minus infinity."
log_softmax = _softmax("log_softmax", True)
log_softmax.__doc__ = "The logarithm of softmax()."

def _sum(input, dim=None, keepdim=False, *, dtype=None):
    """torch.sum(): integers add up to int64."""
    whole = not (input.is_floating_point() or input.is_complex())
    return sum(input, dim, keepdim, dtype=C.int64 if whole and dtype is None else dtype)


FUNCTIONS = {"sum": _sum, "norm": norm, "any": any}
