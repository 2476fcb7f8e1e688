"""Rows, slices and other orders of the dimensions of a sparse tensor."""

import _terra_C as C

from ._reductions import wrapped
from ._refusals import refusal
from ._tensor import SparseTensor, coo


def permute(input, *dims):
    dims = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    rank, sparse_dim = input.dim(), input.sparse_dim()
    if len(dims) != rank:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {rank} is not equal to len(dims) = {len(dims)}"
        )
    dims = [wrapped(d, rank) for d in dims]
    if len(set(dims)) != rank:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    if dims == list(range(rank)):
        return input
    if any((d < sparse_dim) != (at < sparse_dim) for at, d in enumerate(dims)):
        raise RuntimeError("transpose: sparse and dense dimensions of a tensor cannot be exchanged")
    places, elements = input._places, input._elements
    if dims[:sparse_dim] != list(range(sparse_dim)):
        places = places[dims[:sparse_dim]]
    if input.dense_dim():
        elements = elements.permute(0, *(d - sparse_dim + 1 for d in dims[sparse_dim:]))
    return coo(places, elements, [input.shape[d] for d in dims], input._coalesced and places is input._places)


def transpose(input, dim0, dim1):
    dims = list(range(input.dim()))
    a, b = wrapped(dim0, input.dim()), wrapped(dim1, input.dim())
    if dims:
        dims[a], dims[b] = b, a
    return permute(input, dims)


def t(input):
    if input.dim() > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {input.sparse_dim()} sparse and "
            f"{input.dense_dim()} dense dimensions"
        )
    return transpose(input, 0, 1) if input.dim() == 2 else input


def adjoint(input):
    return transpose(input, -2, -1).conj()


def _reversed(input):
    return permute(input, list(range(input.dim()))[::-1])


def movedim(input, source, destination):
    source, destination = ((d,) if isinstance(d, int) else tuple(d) for d in (source, destination))
    source, destination = ([wrapped(d, input.dim()) for d in dims] for dims in (source, destination))
    dims = [d for d in range(input.dim()) if d not in source]
    for to, d in sorted(zip(destination, source)):
        dims.insert(to, d)
    return permute(input, dims)


def unsqueeze(input, dim):
    rank, sparse_dim = input.dim(), input.sparse_dim()
    dim = wrapped(dim, rank + 1)
    size = [*input.shape[:dim], 1, *input.shape[dim:]]
    if dim > sparse_dim:
        return coo(input._places, input._elements.unsqueeze(dim - sparse_dim + 1), size, input._coalesced)
    rows = list(input._places.unbind(0))
    rows.insert(dim, C.zeros(input._nnz(), dtype=C.int64))
    return coo(C.stack(rows), input._elements, size, input._coalesced)


def _without(places, dim):
    return places[[d for d in range(places.shape[0]) if d != dim]]


def select(input, dim, index):
    """One slice: dense when no sparse dimension is left."""
    rank, sparse_dim = input.dim(), input.sparse_dim()
    if rank == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    dim, index = wrapped(dim, rank), int(index)
    length = input.shape[dim]
    if not -length <= index < length:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}"
        )
    index += length if index < 0 else 0
    size = [n for d, n in enumerate(input.shape) if d != dim]
    if dim >= sparse_dim:
        return coo(input._places, input._elements.select(dim - sparse_dim + 1, index), size, input._coalesced)
    rows = (input._places[dim] == index).nonzero().squeeze(1)
    elements = input._elements.index_select(0, rows)
    if sparse_dim == 1:
        return elements.sum(0).to(input.dtype)
    return coo(_without(input._places, dim).index_select(1, rows), elements, size, input._coalesced)


def index_select(input, dim, index):
    dim = wrapped(dim, input.dim())
    if not isinstance(index, C.Tensor) or index.dim() != 1 or index.dtype not in (C.int64, C.int32):
        if isinstance(index, C.Tensor) and index.dim() != 1:
            raise IndexError("index_select() argument index must be 1-D long-tensor.")
        raise IndexError("index_select(): Expected dtype int32 or int64 for index")
    size, sparse_dim = list(input.shape), input.sparse_dim()
    low, high = (int(index.min()), int(index.max())) if index.numel() else (0, -1)
    if low < -size[dim] or high >= size[dim]:
        wrong = high if high >= size[dim] else low
        raise IndexError(
            f"index_select(): index contains {wrong} that is out of range for tensor of size {size} at dimension {dim}"
        )
    index = C.where(index < 0, index + size[dim], index).to(C.int64)
    length, size[dim] = size[dim], index.shape[0]
    if dim >= sparse_dim:
        return coo(input._places, input._elements.index_select(dim - sparse_dim + 1, index), size, input._coalesced)
    asked = C.bincount(index, minlength=length)  # how often for each slice, and where in `index`
    by_slice = index.argsort(stable=True)
    times = asked.index_select(0, input._places[dim])
    entry = C.arange(input._nnz()).repeat_interleave(times)
    order = C.arange(entry.shape[0]) - (times.cumsum(0) - times).index_select(0, entry)
    first = (asked.cumsum(0) - asked).index_select(0, input._places[dim].index_select(0, entry))
    rows = list(input._places.index_select(1, entry).unbind(0))
    rows[dim] = by_slice.index_select(0, first + order)
    return coo(C.stack(rows), input._elements.index_select(0, entry), size).coalesce()


def narrow_copy(input, dim, start, length):
    dim = wrapped(dim, input.dim())
    n = input.shape[dim]
    start += n if start < 0 else 0
    if length < 0 or start < 0 or start + length > n:
        raise RuntimeError(
            f"Invalid dimension length for narrow_copy: start ({start}) + length ({length}) exceeds dimension size "
            f"({n})."
        )
    size, sparse_dim = list(input.shape), input.sparse_dim()
    size[dim] = length
    if dim >= sparse_dim:
        return coo(input._places, input._elements.narrow(dim - sparse_dim + 1, start, length), size, input._coalesced)
    row = input._places[dim]
    kept = ((row >= start) & (row < start + length)).nonzero().squeeze(1)
    rows = list(input._places.index_select(1, kept).unbind(0))
    rows[dim] = rows[dim] - start
    return coo(C.stack(rows), input._elements.index_select(0, kept), size, input._coalesced)


def unbind(input, dim=0):
    return tuple(select(input, dim, i) for i in range(input.shape[wrapped(dim, input.dim())]))


def getitem(input, key):
    """Whole numbers, `:`, None and `...`."""
    keys = list(key) if isinstance(key, tuple) else [key]
    taken = sum(k is not None and k is not Ellipsis for k in keys)
    if taken > input.dim():
        raise IndexError(f"too many indices for tensor of dimension {input.dim()}")
    if Ellipsis in [k for k in keys if not isinstance(k, C.Tensor)]:
        at = next(i for i, k in enumerate(keys) if k is Ellipsis)
        keys[at : at + 1] = [slice(None)] * (input.dim() - taken)
    dim = 0
    for k in keys:
        if k is None:
            input = unsqueeze(input, dim) if isinstance(input, SparseTensor) else input.unsqueeze(dim)
            dim += 1
        elif isinstance(k, slice):
            if k != slice(None) and k.indices(input.shape[dim]) != (0, input.shape[dim], 1):
                raise refusal("as_strided")
            dim += 1
        elif isinstance(k, bool) or not (hasattr(k, "__index__") and (not isinstance(k, C.Tensor) or k.dim() == 0)):
            raise refusal("index.Tensor")
        else:
            input = input.select(dim, int(k))
    return input


def cat(tensors, dim=0):
    tensors = list(tensors)
    for at, tensor in enumerate(tensors):
        if not isinstance(tensor, SparseTensor):
            raise RuntimeError(f"Concatenating sparse tensors, but a dense tensor was found at position {at}.")
    first = tensors[0]
    dim, sparse_dim = wrapped(dim, first.dim()), first.sparse_dim()
    for tensor in tensors:
        if (tensor.sparse_dim(), tensor.dense_dim()) != (sparse_dim, first.dense_dim()):
            raise RuntimeError(
                "All tensors must have the same number of sparse and dense dimensions to be concatenated"
            )
        if [n for d, n in enumerate(tensor.shape) if d != dim] != [n for d, n in enumerate(first.shape) if d != dim]:
            raise RuntimeError(
                f"All tensors must have the same shape: {list(first.shape)} (except in the concatenating dimension), "
                f"but found shape: {list(tensor.shape)}"
            )
    size, begin, places, elements = list(first.shape), 0, [], []
    size[dim] = sum(tensor.shape[dim] for tensor in tensors)
    for tensor in tensors:
        if dim < sparse_dim:
            rows = list(tensor._places.unbind(0))
            rows[dim] = rows[dim] + begin
            places.append(C.stack(rows))
            elements.append(tensor._elements)
        else:  # its dense part is one block of the others' width
            before = [0] * (tensor.dense_dim() * 2)
            at = 2 * (first.dim() - 1 - dim)
            before[at], before[at + 1] = begin, size[dim] - begin - tensor.shape[dim]
            places.append(tensor._places)
            elements.append(_padded(tensor._elements, before))
        begin += tensor.shape[dim]
    return coo(C.cat(places, 1), C.cat(elements), size)


def _padded(elements, widths):
    from ..nn.functional import pad

    return pad(elements, widths)


def stack(tensors, dim=0):
    tensors = list(tensors)
    for at, tensor in enumerate(tensors):
        if not isinstance(tensor, SparseTensor):
            raise RuntimeError(f"Concatenating sparse tensors, but a dense tensor was found at position {at}.")
    return cat([unsqueeze(tensor, dim) for tensor in tensors], dim)


def vstack(tensors):
    return cat(tensors, 0)


def hstack(tensors):
    return cat(tensors, 0 if tensors[0].dim() == 1 else 1)


FUNCTIONS = {
    "vstack": vstack, "row_stack": vstack, "hstack": hstack,
    "t": t, "transpose": transpose, "swapaxes": transpose, "swapdims": transpose, "permute": permute,
    "adjoint": adjoint, "movedim": movedim, "moveaxis": movedim, "unsqueeze": unsqueeze, "select": select,
    "index_select": index_select,
    "narrow_copy": narrow_copy, "unbind": unbind, "cat": cat, "concat": cat, "concatenate": cat, "stack": stack,
}  # fmt: skip
PROPERTIES = {"T": _reversed, "mT": lambda input: transpose(input, -2, -1), "H": adjoint, "mH": adjoint}
