"""Looking rows up by number."""

import _terra_C as C

records = C._functional

__all__ = ["embedding", "embedding_bag", "one_hot"]


def _row(padding_idx, weight):
    """padding_idx counted from the first row."""
    if padding_idx is None:
        return None
    rows = weight.size(0)
    if padding_idx >= rows or padding_idx < -rows:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx + rows if padding_idx < 0 else padding_idx


def embedding(
    input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False
):
    padding_idx = _row(padding_idx, weight)
    if max_norm is not None:
        _renormalize(weight, input, max_norm, norm_type)
    rows = C._ops.embedding(weight, input, padding_idx)
    return _scaled_by_frequency(rows, input, weight.size(0)) if scale_grad_by_freq else rows


def _scaled_by_frequency(rows, indices, count):
    """The same rows; the gradient of each is divided by how often it was looked up."""
    frequency = C.bincount(indices.flatten(), minlength=count)[indices].unsqueeze(-1)
    scaled = rows / frequency.to(rows.dtype)
    return rows.detach() + (scaled - scaled.detach())


def _renormalize(weight, indices, max_norm, norm_type):
    """Scales the rows that are looked up, in place, so that none is longer than max_norm."""
    with C.no_grad():
        used = indices.flatten().unique()
        rows = weight.index_select(0, used)
        norms = rows.norm(norm_type, 1, keepdim=True)
        scale = C.where(norms > max_norm, max_norm / (norms + 1e-7), C.ones_like(norms))
        weight[used] = rows * scale


def embedding_bag(
    input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
    per_sample_weights=None, include_last_offset=False, padding_idx=None,
):  # fmt: skip
    """Sums, means or maxima of the rows of each bag."""
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    padding_idx = _row(padding_idx, weight)
    if scale_grad_by_freq and mode == "max":
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if input.dim() == 2:
        count, length = input.shape
        spans = [(i * length, (i + 1) * length) for i in range(count)]
        input = input.flatten()
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.flatten()
    else:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got <class 'NoneType'>")
        edges = offsets.tolist() if include_last_offset else [*offsets.tolist(), input.size(0)]
        spans = list(zip(edges, edges[1:]))
    rows = embedding(input, weight, None, max_norm, norm_type, scale_grad_by_freq)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    keep = None if padding_idx is None else input != padding_idx
    out = []
    for begin, end in spans:
        bag = rows[begin:end] if keep is None else rows[begin:end][keep[begin:end]]
        if bag.size(0) == 0:
            out.append(C.zeros(weight.size(1), dtype=weight.dtype))
        else:
            out.append(bag.sum(0) if mode == "sum" else bag.mean(0) if mode == "mean" else bag.max(0)[0])
    return C.stack(out)


def one_hot(tensor, num_classes=-1):
    return records.one_hot(tensor, num_classes)
