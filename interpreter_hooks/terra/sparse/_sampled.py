"""Products over the entries of a CSR matrix: sampled at its places, and reduced along its rows."""

import _terra_C as C

from ._tensor import Sparse

_REDUCTIONS = ("sum", "mean", "amax", "amin")


def _rows(matrix):
    """The row of each entry."""
    return C.repeat_interleave(C.arange(matrix.shape[0]), matrix._starts.to(C.int64).diff())


def _layout_name(tensor):
    names = {C.sparse_coo: "Sparse", C.sparse_csr: "SparseCsr", C.sparse_csc: "SparseCsc"}
    return names.get(tensor.layout, "Strided")


def _check_sampled(input, mat1, mat2):
    if not isinstance(input, Sparse) or input.layout is not C.sparse_csr:
        raise NotImplementedError(f"sampled_addmm: Expected self to have SparseCsr layout, but got {_layout_name(input)}")
    for name, matrix in (("mat1", mat1), ("mat2", mat2)):
        if isinstance(matrix, Sparse):
            raise RuntimeError(
                f"sampled_addmm: Expected {name} to have strided layout, but got {_layout_name(matrix)}"
            )
        if matrix.dim() != 2:
            raise RuntimeError(f"sampled_addmm: Expected {name} to be a matrix, got {matrix.dim()}-D tensor")
    (rows, inner), (other, columns) = mat1.shape, mat2.shape
    if inner != other:
        raise RuntimeError(
            f"sampled_addmm: mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {other}x{columns})"
        )
    for dim, have in ((-2, rows), (-1, columns)):
        if input.shape[dim] != have:
            raise RuntimeError(f"sampled_addmm: self.shape[{dim}] must match mat{3 + dim}.shape[{dim}]")
    for names, dtypes in (("mat1 and mat2", (mat1, mat2)), ("self and mat1", (input, mat1))):
        if dtypes[0].dtype != dtypes[1].dtype:
            first, second = (str(t.dtype).removeprefix("torch.") for t in dtypes)
            raise RuntimeError(f"sampled_addmm: Expected {names} to have the same dtype, but got {first} and {second}")


def sampled_addmm(input, mat1, mat2, *, beta=1.0, alpha=1.0, out=None):
    """beta * input + alpha * (mat1 @ mat2) at the places of a CSR matrix, where alone it is computed."""
    _check_sampled(input, mat1, mat2)
    products = (mat1.index_select(0, _rows(input)) * mat2.t().index_select(0, input._others.to(C.int64))).sum(-1)
    values = products if alpha == 1 else alpha * products
    if beta != 0:
        values = values + (input._elements if beta == 1 else beta * input._elements)
    result = input._with(values)
    return result if out is None else out._become(result)


def mm_reduced(input, mat2, reduce):
    """Row i of the result: the sum, mean or extreme of a_ij * mat2[j] over the entries a_ij of row i; 0 without any."""
    if reduce not in _REDUCTIONS:
        if reduce == "prod":
            raise RuntimeError("sparse_mm_reduce: reduce type of prod has not been enabled.")
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if not isinstance(input, Sparse) or input.layout is not C.sparse_csr:
        raise RuntimeError(f"sparse_mm_reduce: expect self to be SparseCsr, got {_layout_name(input)}")
    if isinstance(mat2, Sparse):
        raise RuntimeError(
            f"Expected tensor to have Strided Layout, but got tensor with {_layout_name(mat2)} Layout (while checking "
            "arguments for sparse_mm_reduce)"
        )
    if mat2.dim() != 2 or mat2.shape[0] != input.shape[1]:
        raise RuntimeError(
            f"sparse_mm_reduce: {list(input.shape)} and {list(mat2.shape)} are no shapes of matrices that multiply"
        )
    if mat2.dtype != input.dtype:
        raise RuntimeError(
            f"Expected tensor for argument #1 'other' to have the dtype {input.dtype}; but got {mat2.dtype} (while "
            "checking arguments for sparse_mm_reduce)"
        )
    rows = _rows(input)
    terms = input._elements.unsqueeze(1) * mat2.index_select(0, input._others.to(C.int64))
    nothing = C.zeros(input.shape[0], mat2.shape[1], dtype=input.dtype)
    return nothing.scatter_reduce(0, rows.unsqueeze(1).expand_as(terms), terms, reduce, include_self=False)
