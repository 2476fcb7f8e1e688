"""Sparse tensors from indices and values, from dense tensors, and empty ones."""

import _terra_C as C

from ._refusals import refusal
from ._tensor import Sparse, SparseTensor, coo, numbered

_checks_invariants = False  # what check_invariants=None means


def set_checks_invariants(enabled):
    global _checks_invariants
    before, _checks_invariants = _checks_invariants, bool(enabled)
    return before


def checks_invariants():
    return _checks_invariants


def checked_device(device):
    """Raises for a device that isn't there."""
    if device is not None:
        C.empty(0, device=device)


def given_values(values, dtype):
    """Values as the program has them, as a tensor."""
    if isinstance(values, Sparse):
        raise refusal("sparse_coo_tensor")
    if isinstance(values, C.Tensor):
        return values if dtype is None else values.to(dtype)
    return C.as_tensor(values, dtype=dtype)


def finished(made, requires_grad):
    """Asked-for gradients are those of values of its own: the program's tensor stays as it is."""
    if requires_grad and not (made.is_floating_point() or made.is_complex()):
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    if requires_grad:
        made._elements = made._elements.detach()
    return made.requires_grad_() if requires_grad else made


def _size_of(arguments):
    if len(arguments) == 1 and not isinstance(arguments[0], int):
        arguments = arguments[0]
    return tuple(int(n) for n in arguments)


def zeros(
    *size,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=False,
    requires_grad=False,
    out=None,
    memory_format=None,
):
    """No entries."""
    checked_device(device)
    size = _size_of(size)
    dtype = C.get_default_dtype() if dtype is None else dtype
    made = coo(C.zeros((len(size), 0), dtype=C.int64), C.zeros(0, dtype=dtype), size, True)
    return finished(made, requires_grad)


def zeros_like(
    input, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False, memory_format=None
):
    if layout is C.strided:
        return C.zeros(tuple(input.shape), dtype=dtype or input.dtype, device=device, requires_grad=requires_grad)
    checked_device(device)
    sparse_dim = input.sparse_dim() if isinstance(input, SparseTensor) else input.dim()
    made = coo(
        C.zeros((sparse_dim, 0), dtype=C.int64),
        C.zeros((0, *input.shape[sparse_dim:]), dtype=dtype or input.dtype),
        input.shape,
        True,
    )
    return finished(made, requires_grad)


def _given_places(indices):
    places = C.as_tensor(indices)
    if places.dtype != C.int64:
        places = places.to(C.int64)
    if places.dim() != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(places.shape)}")
    return places.detach()


def _inferred_size(places, values):
    if places.shape[1] == 0 and places.shape[0] > 0:
        return (*([0] * places.shape[0]), *values.shape[1:])
    _check_not_negative(places)
    return (*(int(n) + 1 for n in places.max(1)[0]), *values.shape[1:]) if places.shape[0] else tuple(values.shape[1:])


def _check_not_negative(places):
    for d, low in enumerate(places.min(1)[0].tolist() if places.numel() else ()):
        if low < 0:
            raise RuntimeError(f"found negative index {low} for dim {d}")


def _check_within(places, size):
    _check_not_negative(places)
    for d, high in enumerate(places.max(1)[0].tolist() if places.numel() else ()):
        if high >= size[d]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {d}, size is {size[d]} but found index {high}"
            )


def _check_coalesced(places, size):
    keys = numbered(places, size)
    if places.shape[1] > 1 and not bool((keys[1:] > keys[:-1]).all()):
        raise RuntimeError("cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")


def sparse_coo_tensor(*arguments, **options):
    """sparse_coo_tensor(indices, values, size, *, dtype, device, requires_grad, check_invariants, is_coalesced), or
    sparse_coo_tensor(size): row i of the values belongs to the place in column i of the indices."""
    if "size" in options and not arguments and "indices" not in options:
        arguments = (options.pop("size"),)
    if len(arguments) == 1 and "values" not in options:
        return zeros(
            arguments[0], **{k: v for k, v in options.items() if k not in ("check_invariants", "is_coalesced")}
        )
    return _from_parts(*arguments, **options)


def _from_parts(
    indices, values, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False,
    check_invariants=None, is_coalesced=None,
):  # fmt: skip
    checked_device(device)
    values, places = given_values(values, dtype), _given_places(indices)
    if values.dim() == 0:
        raise RuntimeError("values must have one row for each column of indices, but they are a number")
    if values.shape[0] != places.shape[1]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {places.shape[1]}, nnz from values: "
            f"{values.shape[0]}"
        )
    if size is None:
        size = _inferred_size(places, values)
    size = tuple(int(n) for n in size)
    sparse_dim, dense_dim = places.shape[0], values.dim() - 1
    if len(size) != sparse_dim + dense_dim:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = "
            f"{sparse_dim}, dense_dim = {dense_dim}"
        )
    if size[sparse_dim:] != tuple(values.shape[1:]):
        raise RuntimeError(
            f"values has incorrect size, expected {[places.shape[1], *size[sparse_dim:]]}, got {list(values.shape)}"
        )
    if min(size, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(size)}: {list(size)}")
    if _checks_invariants if check_invariants is None else check_invariants:
        _check_within(places, size)
        if is_coalesced:
            _check_coalesced(places, size)
    elements = values.view_as(values) if values.requires_grad else values.detach()
    coalesced = places.shape[1] < 2 if is_coalesced is None else bool(is_coalesced)  # one row has no other to add to
    return finished(coo(places, elements, size, coalesced), requires_grad)


# ---- from dense tensors ----


def to_sparse(input, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    """The slices of the last dimensions that are not all zero, at their places in the first sparse_dim ones."""
    if layout not in (None, C.sparse_coo):
        return to_layout(to_sparse(input), layout)
    rank = input.dim()
    sparse_dim = rank if sparse_dim is None else sparse_dim
    if not 0 <= sparse_dim <= rank:
        raise RuntimeError(
            f"dense_to_sparse: sparse_dim argument must be in [0,{rank}] range, but {sparse_dim} is given"
        )
    if rank == 0:
        values = input.reshape(1)
        return coo(C.zeros((0, 1), dtype=C.int64), values, (), True)._with_rows(
            (values.detach() != 0).nonzero().squeeze(1)
        )
    if sparse_dim == 0:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    is_there = input.detach() != 0
    if sparse_dim < rank:
        is_there = is_there.flatten(sparse_dim).any(-1)
    places = is_there.nonzero().t().contiguous()
    return coo(places, input[tuple(places.unbind(0))], input.shape, True)


def to_layout(sparse, layout):
    """A COO tensor in another sparse layout."""
    if layout in (None, C.sparse_coo):
        return sparse
    if layout in (C.sparse_csr, C.sparse_csc):
        from ._compressed import compressed

        return compressed(sparse, layout)
    raise NotImplementedError(
        f"to_sparse(): the layout {layout} is not in Terra yet; torch.sparse_coo and torch.sparse_csr are."
    )


def sparse_mask(input, mask):
    """The elements of `input` at the places that `mask` specifies."""
    if not isinstance(mask, SparseTensor):
        raise NotImplementedError(f"sparse_mask(): the mask is a sparse COO tensor, not one of layout {mask.layout}")
    if mask.shape != input.shape:
        raise RuntimeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(input.shape)} but mask has size "
            f"{list(mask.shape)}"
        )
    if not isinstance(input, Sparse):
        return mask._with(input[tuple(mask._places.unbind(0))])
    from ._arithmetic import found

    known, sizes = input.coalesce(), mask.shape[: mask.sparse_dim()]
    if known.sparse_dim() != mask.sparse_dim():
        raise refusal("sparse_mask")
    at, is_there = found(numbered(known._places, sizes), numbered(mask._places, sizes))
    if known._nnz() == 0:
        return mask._with(C.zeros_like(mask._elements, dtype=known.dtype))
    values = known._elements.index_select(0, at)
    return mask._with(C.where(is_there.reshape((-1,) + (1,) * (values.dim() - 1)), values, 0))


def spdiags(diagonals, offsets, shape, layout=None):
    """A matrix whose diagonals are the rows of `diagonals`: row i is diagonal offsets[i]."""
    if not isinstance(offsets, C.Tensor):
        raise TypeError("spdiags(): argument 'offsets' must be Tensor")
    diagonals = diagonals.unsqueeze(0) if diagonals.dim() == 1 else diagonals
    offsets = offsets.reshape(-1)
    if diagonals.dim() != 2:
        raise RuntimeError("Diagonals must be vector or matrix")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if diagonals.shape[0] != offsets.shape[0]:
        raise RuntimeError("Number of diagonals does not match the number of offsets")
    if offsets.unique().shape[0] != offsets.shape[0]:
        raise RuntimeError("Offset tensor contains duplicate values")
    if offsets.dtype != C.int64:
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {str(offsets.dtype).removeprefix('torch.')}")
    columns = C.arange(diagonals.shape[1]).expand(diagonals.shape)
    rows = columns - offsets.unsqueeze(1)
    inside = (rows >= 0) & (rows < shape[0]) & (columns < shape[1])
    made = coo(C.stack([rows[inside], columns[inside]]), diagonals[inside], shape)
    return made if layout is None else to_layout(made.coalesce(), layout)


FUNCTIONS = {
    "zeros_like": zeros_like,
    "empty_like": zeros_like,
    "sparse_mask": sparse_mask,
    "zeros": zeros,
    "empty": zeros,
}
