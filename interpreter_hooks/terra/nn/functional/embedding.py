"""Looking rows up by number."""

import _terra_C as C

records = C._functional

__all__ = ["embedding", "embedding_bag", "one_hot"]


def embedding(
    input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False
):
    if padding_idx is not None:
        rows = weight.size(0)
        if padding_idx >= rows or padding_idx < -rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        if padding_idx < 0:
            padding_idx += rows
    if max_norm is not None:
        _renormalize(weight, input, max_norm, norm_type)
    return C._ops.embedding(weight, input, padding_idx)


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
    if input.dim() == 2:
        bags = [input[i] for i in range(input.size(0))]
        weights = None if per_sample_weights is None else [per_sample_weights[i] for i in range(input.size(0))]
    else:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got <class 'NoneType'>")
        edges = offsets.tolist() if include_last_offset else [*offsets.tolist(), input.size(0)]
        spans = list(zip(edges, edges[1:]))
        bags = [input[a:b] for a, b in spans]
        weights = None if per_sample_weights is None else [per_sample_weights[a:b] for a, b in spans]
    out = []
    for i, bag in enumerate(bags):
        if padding_idx is not None:
            keep = bag != padding_idx
            bag = bag[keep]
        if bag.numel() == 0:
            out.append(C.zeros(weight.size(1), dtype=weight.dtype))
            continue
        rows = embedding(bag, weight, None, max_norm, norm_type)
        if weights is not None:
            scale = weights[i] if padding_idx is None else weights[i][keep]
            rows = rows * scale.unsqueeze(1)
        out.append(rows.sum(0) if mode == "sum" else rows.mean(0) if mode == "mean" else rows.max(0)[0])
    return C.stack(out)


def one_hot(tensor, num_classes=-1):
    return records.one_hot(tensor, num_classes)
