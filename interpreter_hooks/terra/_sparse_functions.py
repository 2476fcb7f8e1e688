"""Functions about sparse tensors at the top level, and what dense tensors answer to their methods."""

import _terra_C as C

from .sparse import _creation, _products
from .sparse import mm as spmm
from .sparse._compressed import sparse_csc_tensor, sparse_csr_tensor  # noqa: F401
from .sparse._creation import sparse_coo_tensor
from .sparse._refusals import refusal

_sparse_coo_tensor_unsafe = sparse_coo_tensor


def _of_sparse(name, place):
    """A product whose operand at that place has to be sparse."""
    function = getattr(_products, name)

    def product(*operands, **options):
        if not operands[place].is_sparse:
            raise RuntimeError(f"{name}: expected 'mat1' to have sparse layout, got 'mat1' with layout Strided")
        return function(*operands, **options)

    product.__name__, product.__doc__ = name, function.__doc__
    return product


smm, hspmm, sspaddmm = _of_sparse("smm", 0), _of_sparse("hspmm", 0), _of_sparse("sspaddmm", 1)
dsmm, hsmm, saddmm = spmm, hspmm, sspaddmm  # their old names


_MAKERS = {
    "zeros": _creation.zeros, "empty": _creation.zeros, "zeros_like": _creation.zeros_like,
    "empty_like": _creation.zeros_like,
}  # fmt: skip


def made_in_layout(name, arguments, options):
    """zeros(2, 3, layout=torch.sparse_coo) and its kin."""
    layout = (options or {}).get("layout")
    if name not in _MAKERS:
        raise refusal(name)
    return _creation.to_layout(_MAKERS[name](*arguments, **options), layout)


# ---- methods of dense tensors ----

to_sparse = _creation.to_sparse
sparse_mask = _creation.sparse_mask


def to_dense(self, dtype=None, *, masked_grad=None):
    """The tensor itself, in another dtype if one is asked for."""
    return self if dtype is None else self.to(dtype)


def to_sparse_coo(self):
    return to_sparse(self)


def to_sparse_csr(self, dense_dim=None):
    return to_sparse(self, layout=C.sparse_csr)


def to_sparse_csc(self, dense_dim=None):
    return to_sparse(self, layout=C.sparse_csc)


def sparse_dim(self):
    return 0


def dense_dim(self):
    return self.dim()


_EXPECTED = {
    "coalesce": "sparse coordinate tensor", "indices": "sparse coordinate tensor",
    "is_coalesced": "sparse coordinate tensor", "values": "sparse tensor",
    "crow_indices": "sparse row compressed tensor", "col_indices": "sparse row compressed tensor",
    "ccol_indices": "sparse column compressed tensor", "row_indices": "sparse column compressed tensor",
}  # fmt: skip


def _expecting(name, expected):
    def method(self):
        raise RuntimeError(f"{name} expected {expected} layout but got Strided")

    return method


def _only_sparse(name):
    def method(self):
        raise refusal(name, "CPU")

    return method


for _name, _expected in _EXPECTED.items():
    globals()[_name] = _expecting(_name, _expected)
for _name in ("_dimI", "_dimV", "_indices", "_nnz", "_values"):
    globals()[_name] = _only_sparse(_name)


def _convert_indices_from_coo_to_csr(self, size, *, out_int32=False):
    """Where the entries of each of `size` rows begin, from the sorted rows of all entries."""
    before = C.zeros(1, dtype=C.int64)
    starts = C.cat([before, C.bincount(self, minlength=size).cumsum(0)])
    return starts.to(C.int32) if out_int32 else starts


def _convert_indices_from_csr_to_coo(crow_indices, col_indices, *, out_int32=False, transpose=False):
    """The rows and columns of all entries, columns first with `transpose`."""
    rows = C.repeat_interleave(C.arange(crow_indices.numel() - 1), (crow_indices[1:] - crow_indices[:-1]).long())
    pair = [col_indices.long(), rows] if transpose else [rows, col_indices.long()]
    return C.stack(pair).to(C.int32 if out_int32 else C.int64)
