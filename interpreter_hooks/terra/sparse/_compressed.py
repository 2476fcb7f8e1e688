"""CSR and CSC: places in order of their rows (or columns), with where each row begins in place of its number."""

import _terra_C as C

from ._creation import checked_device, finished, given_values
from ._refusals import refusal
from ._tensor import Sparse, coo


class CompressedTensor(Sparse):
    """`_starts` [rows + 1]: where each row (column) begins among the entries; `_others` [nnz]: the columns (rows)."""

    is_sparse = False

    @property
    def layout(self):
        return self._layout

    @property
    def is_sparse_csr(self):
        return self._layout is C.sparse_csr

    def _with(self, elements):
        return made(self._starts, self._others, elements, self.shape, self._layout)

    def _become(self, other):
        if other.shape != self.shape:
            raise RuntimeError(f"output with shape {list(self.shape)} doesn't match the shape {list(other.shape)}")
        other = compressed(other.to_sparse(), self._layout)
        self._starts, self._others, self._elements = other._starts, other._others, other._elements.to(self.dtype)
        return self

    def _averaged(self):
        return self

    def _named_parts(self):
        names = ("crow_indices", "col_indices") if self.is_sparse_csr else ("ccol_indices", "row_indices")
        return *zip(names, (self._starts, self._others)), ("values", self._elements)

    def values(self):
        return self._elements

    def crow_indices(self):
        return self._part("crow_indices", True, self._starts)

    def col_indices(self):
        return self._part("col_indices", True, self._others)

    def ccol_indices(self):
        return self._part("ccol_indices", False, self._starts)

    def row_indices(self):
        return self._part("row_indices", False, self._others)

    def _part(self, name, by_row, part):
        if by_row != self.is_sparse_csr:
            expected = "row" if by_row else "column"
            raise RuntimeError(
                f"{name} expected sparse {expected} compressed tensor layout but got {self._layout_name()}"
            )
        return part

    def sparse_dim(self):
        return 2

    def dense_dim(self):
        return 0

    def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
        """The same entries as a COO tensor."""
        numbers = C.arange(self._starts.shape[0] - 1).repeat_interleave(self._starts[1:] - self._starts[:-1])
        rows = (numbers, self._others) if self.is_sparse_csr else (self._others, numbers)
        found = coo(C.stack(rows).to(C.int64), self._elements, self.shape, self.is_sparse_csr)
        return found if layout in (None, C.sparse_coo) else compressed(found, layout)

    def to_sparse_coo(self):
        return self.to_sparse()

    def to_sparse_csr(self, dense_dim=None):
        return self.to_sparse(layout=C.sparse_csr)

    def to_sparse_csc(self, dense_dim=None):
        return self.to_sparse(layout=C.sparse_csc)

    def to_dense(self, dtype=None, *, masked_grad=None):
        return self.to_sparse().to_dense(dtype)

    def coalesce(self):
        raise RuntimeError(f"coalesce expected sparse coordinate tensor layout but got {self._layout_name()}")

    def indices(self):
        raise RuntimeError(f"indices expected sparse coordinate tensor layout but got {self._layout_name()}")

    def is_coalesced(self):
        raise RuntimeError(f"is_coalesced expected sparse coordinate tensor layout but got {self._layout_name()}")

    def _layout_name(self):
        return "SparseCsr" if self.is_sparse_csr else "SparseCsc"

    def sparse_mask(self, mask):
        return compressed(self.to_sparse().sparse_mask(mask.to_sparse()), self._layout)

    def __reduce_ex__(self, protocol):
        parts = self._starts, self._others, self._elements.detach(), tuple(self.shape)
        return rebuild, (*parts, self.is_sparse_csr, self.requires_grad)


def made(starts, others, elements, size, layout):
    """A tensor of parts that fit together."""
    tensor = C._sparse_tensor(CompressedTensor, tuple(size), elements.dtype)
    tensor._starts, tensor._others, tensor._elements, tensor._layout = starts, others, elements, layout
    return tensor


def compressed(sparse, layout):
    """The entries of a COO matrix."""
    if sparse.sparse_dim() != 2 or sparse.dense_dim() != 0:
        raise NotImplementedError(
            "to_sparse(): compressed layouts are of matrices of numbers here; batches and dense dimensions are not "
            "in Terra yet."
        )
    if layout is C.sparse_csc:
        sparse = sparse.t()
    sparse = sparse.coalesce()
    lengths = C.bincount(sparse._places[0], minlength=sparse.shape[0])
    starts = C.cat([C.zeros(1, dtype=C.int64), lengths.cumsum(0)])
    size = sparse.shape if layout is C.sparse_csr else sparse.shape[::-1]
    return made(starts, sparse._places[1], sparse._elements, size, layout)


def _check(starts, others, elements, size, name):
    if starts.dim() != 1 or others.dim() != 1 or elements.dim() != 1:
        raise NotImplementedError(f"{name}: batches and dense dimensions of compressed tensors are not in Terra yet.")
    compressed_size, plain_size = size
    if starts.dtype != others.dtype or starts.dtype not in (C.int64, C.int32):
        raise RuntimeError(
            f"{name}: compressed and plain indices must be both int32 or both int64, got {starts.dtype} and "
            f"{others.dtype}"
        )
    if starts.shape[0] != compressed_size + 1:
        raise RuntimeError(
            f"{name}: compressed indices must have {compressed_size + 1} elements, one more than the dimension, not "
            f"{starts.shape[0]}"
        )
    if others.shape[0] != elements.shape[0]:
        raise RuntimeError(
            f"{name}: plain indices and values must have the same length, got {others.shape[0]} and {elements.shape[0]}"
        )
    steps = starts[1:] - starts[:-1]
    if int(starts[0]) != 0 or int(starts[-1]) != elements.shape[0] or (steps.numel() and bool((steps < 0).any())):
        raise RuntimeError(f"{name}: compressed indices must rise from 0 to nnz, {elements.shape[0]}")
    if others.numel() and (int(others.min()) < 0 or int(others.max()) >= plain_size):
        raise RuntimeError(f"{name}: plain indices must be within the dimension, of size {plain_size}")


def _made_of_parts(name, layout, starts, others, values, size, dtype, device, requires_grad):
    checked_device(device)
    by_row = layout is C.sparse_csr
    values, starts, others = given_values(values, dtype), C.as_tensor(starts), C.as_tensor(others)
    if size is None:
        longest = int(others.max()) + 1 if others.numel() else 0
        size = (starts.shape[0] - 1, longest) if by_row else (longest, starts.shape[0] - 1)
    size = tuple(int(n) for n in size)
    if len(size) != 2:
        raise NotImplementedError(f"{name}(): batches and dense dimensions of compressed tensors are not in Terra yet.")
    _check(starts, others, values, size if by_row else size[::-1], name)
    elements = values.view_as(values) if values.requires_grad else values.detach()
    return finished(made(starts, others, elements, size, layout), requires_grad)


def sparse_csr_tensor(
    crow_indices, col_indices, values, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False,
    check_invariants=None,
):  # fmt: skip
    """A matrix by rows: row i has the entries from crow_indices[i] to crow_indices[i + 1]."""
    return _made_of_parts(
        "sparse_csr_tensor", C.sparse_csr, crow_indices, col_indices, values, size, dtype, device, requires_grad
    )


def sparse_csc_tensor(
    ccol_indices, row_indices, values, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False,
    check_invariants=None,
):  # fmt: skip
    """A matrix by columns: column i has the entries from ccol_indices[i] to ccol_indices[i + 1]."""
    return _made_of_parts(
        "sparse_csc_tensor", C.sparse_csc, ccol_indices, row_indices, values, size, dtype, device, requires_grad
    )


def rebuild(starts, others, elements, size, by_row, requires_grad):
    """What a pickle calls."""
    build = sparse_csr_tensor if by_row else sparse_csc_tensor
    return build(starts, others, elements, size, requires_grad=requires_grad)


def _other_layout(layout):
    return C.sparse_csc if layout is C.sparse_csr else C.sparse_csr


def transpose(input, dim0=0, dim1=1):
    """The same parts read the other way."""
    if input.dim() != 2 or {dim0 % 2, dim1 % 2} == {0} or {dim0 % 2, dim1 % 2} == {1}:
        return input
    return made(input._starts, input._others, input._elements, input.shape[::-1], _other_layout(input._layout))


def through_coo(function):
    """A function of COO tensors; a sparse result comes back in the layout of the first compressed operand."""

    def converted(*arguments, **options):
        layout = next(a._layout for a in arguments if isinstance(a, CompressedTensor))
        result = function(*(a.to_sparse() if isinstance(a, CompressedTensor) else a for a in arguments), **options)
        return compressed(result, layout) if isinstance(result, Sparse) and result.dim() == 2 else result

    return converted


def in_place(function):
    """The form that gives its result to the first operand."""

    def changing(input, *arguments, **options):
        if not isinstance(input, CompressedTensor):
            raise refusal(function.__name__ + "_", "SparseCsrCPU")
        return input._become(through_coo(function)(input, *arguments, **options))

    return changing
