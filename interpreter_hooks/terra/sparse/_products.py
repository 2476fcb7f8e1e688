"""Matrix products of which one factor, or both, are sparse."""

import _terra_C as C

from ._arithmetic import joined
from ._refusals import refusal
from ._tensor import Sparse, coo

ops = C._ops


def _check_dtypes(a, b):
    if a.dtype != b.dtype:
        names = [t._elements.type() if isinstance(t, Sparse) else t.type() for t in (a, b)]
        a_name, b_name = (name.removeprefix("torch.").removesuffix("Tensor") for name in names)
        raise RuntimeError(f"expected scalar type {a_name} but found {b_name}")


def _check_matrix(sparse):
    if sparse.dim() != 2:
        raise RuntimeError(f"addmm: matrices expected, got {sparse.dim()}D tensor")
    if sparse.sparse_dim() != 2:
        raise RuntimeError(f"addmm: expected a matrix of numbers, not one whose entries are rows of {sparse.shape[1]}")


def sparse_times_dense(a, b):
    _check_matrix(a)
    if b.dim() != 2:
        raise RuntimeError(f"addmm: matrices expected, got {b.dim()}D tensor")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {a.shape[1]}, got {b.shape[0]}")
    _check_dtypes(a, b)
    return ops.coo_mm(a._places[0], a._places[1], a._elements, b, a.shape[0])


def dense_times_sparse(a, b):
    """The transpose of a sparse matrix times a dense one."""
    _check_matrix(b)
    if a.dim() != 2:
        raise RuntimeError(f"addmm: matrices expected, got {a.dim()}D tensor")
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})"
        )
    _check_dtypes(a, b)
    return ops.coo_mm(b._places[1], b._places[0], b._elements, a.t(), b.shape[1]).t()


def sparse_times_sparse(a, b):
    """Every entry of a meets the entries in that row of b to which its column points."""
    _check_matrix(a)
    _check_matrix(b)
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})"
        )
    _check_dtypes(a, b)
    a, b = a.coalesce(), b.coalesce()
    lengths = C.bincount(b._places[0], minlength=b.shape[0])
    starts = lengths.cumsum(0) - lengths
    met = lengths.index_select(0, a._places[1])
    entry = C.repeat_interleave(C.arange(a._nnz()), met)
    order = C.arange(entry.shape[0]) - (met.cumsum(0) - met).index_select(0, entry)
    other = starts.index_select(0, a._places[1].index_select(0, entry)) + order
    places = C.stack([a._places[0].index_select(0, entry), b._places[1].index_select(0, other)])
    values = a._elements.index_select(0, entry) * b._elements.index_select(0, other)
    return coo(places, values, (a.shape[0], b.shape[1])).coalesce()


def mm(input, mat2):
    if not isinstance(mat2, Sparse):
        return sparse_times_dense(input, mat2) if isinstance(input, Sparse) else C.mm(input, mat2)
    return sparse_times_sparse(input, mat2) if isinstance(input, Sparse) else dense_times_sparse(input, mat2)


def mv(input, vec):
    if vec.dim() != 1:
        raise refusal("mv")
    vec = vec.to_dense()
    if not isinstance(input, Sparse):
        return C.mv(input, vec)
    return sparse_times_dense(input, vec.unsqueeze(1)).squeeze(1)


def bmm(input, mat2):
    """A batch of matrices as one matrix of their blocks."""
    if isinstance(mat2, Sparse) or not isinstance(input, Sparse):
        raise RuntimeError("bmm_sparse: Tensor 'mat2' must be dense")
    if input.sparse_dim() != 3 or input.dense_dim() != 0:
        raise RuntimeError(f"bmm_sparse: Tensor 'self' must have 3 sparse dims, but has {input.sparse_dim()}")
    batch, rows, inner = input.shape
    if mat2.dim() != 3 or mat2.shape[0] != batch or mat2.shape[1] != inner:
        raise RuntimeError(
            f"bmm_sparse: Tensors of sizes {list(input.shape)} and {list(mat2.shape)} cannot be multiplied"
        )
    _check_dtypes(input, mat2)
    which, row, column = input._places.unbind(0)
    blocks = mat2.reshape(batch * inner, -1)
    return ops.coo_mm(which * rows + row, which * inner + column, input._elements, blocks, batch * rows).view(
        batch, rows, mat2.shape[2]
    )


def matmul(input, other):
    ranks = input.dim(), other.dim()
    if ranks == (2, 2):
        return mm(input, other)
    if ranks == (2, 1):
        return mv(input, other)
    if ranks == (1, 2):
        return mm(input.to_dense().unsqueeze(0), other).squeeze(0)
    if ranks == (3, 3):
        return bmm(input, other)
    raise RuntimeError("expand is unsupported for Sparse tensors")


def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta * input + alpha * mat1 @ mat2 of a dense input and a sparse mat1."""
    if isinstance(input, Sparse):
        raise RuntimeError("addmm_sparse_dense: expected strided result tensor, got tensor with layout Sparse")
    product = mm(mat1, mat2)
    if isinstance(product, Sparse):
        return C.mul(input.expand(product.shape), beta) + product * alpha
    if alpha != 1:
        product = product * alpha
    return product if beta == 0 else product + (input if beta == 1 else input * beta)


def addmm_(input, mat1, mat2, *, beta=1, alpha=1):
    return input.copy_(addmm(input, mat1, mat2, beta=beta, alpha=alpha))


def hspmm(mat1, mat2):
    """The product as a sparse tensor of rows: of those in which the sparse factor has entries."""
    product = sparse_times_dense(mat1, mat2)
    rows = mat1._places[0].unique()
    return coo(rows.unsqueeze(0), product.index_select(0, rows), product.shape, True)


def smm(input, mat):
    """The same as a sparse tensor of numbers."""
    product = hspmm(input, mat)
    rows, columns = product._places[0], C.arange(product.shape[1])
    places = C.stack([rows.repeat_interleave(columns.shape[0]), columns.repeat(rows.shape[0])])
    return coo(places, product._elements.reshape(-1), product.shape, True)


def sspaddmm(input, mat1, mat2, *, beta=1, alpha=1):
    """beta * input + alpha * mat1 @ mat2, where all but mat2 and the result are sparse."""
    return joined(input * beta, smm(mat1, mat2), alpha)


def linear(input, weight, bias=None):
    if isinstance(weight, Sparse):
        product = mm(input, weight.t())
    else:
        product = mm(input, weight.t().contiguous())
    return product if bias is None else product + bias


FUNCTIONS = {
    "mm": mm, "spmm": mm, "matmul": matmul, "mv": mv, "bmm": bmm, "addmm": addmm, "addmm_": addmm_,
    "smm": smm, "sspaddmm": sspaddmm, "linear": linear,
}  # fmt: skip
