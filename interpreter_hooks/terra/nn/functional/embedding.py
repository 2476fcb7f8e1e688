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
    if sparse and weight.requires_grad and C.is_grad_enabled():
        from ...sparse import _dispatch  # noqa: F401: it tells the engine how sparse gradients are made

        rows = C._ops.embedding_forward(weight, input, -1 if padding_idx is None else padding_idx, True)
        if scale_grad_by_freq:
            rows.register_hook(_refuse_scaled)
        return rows
    rows = C._ops.embedding(weight, input, padding_idx)
    return _scaled_by_frequency(rows, input, weight.size(0)) if scale_grad_by_freq else rows


def _refuse_scaled(grad):
    raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")


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


def _check_bags(input, weight, offsets, per_sample_weights, mode, scale_grad_by_freq, padding_idx):
    if input.dtype not in (C.int64, C.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{input.type()} instead (while checking arguments for embedding_bag)"
        )
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
            f"same shape as the input ({input.shape})"
        )
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
    elif input.dim() != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    elif offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    elif offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}'). Please open a feature request on GitHub."
        )
    if per_sample_weights is not None and per_sample_weights.dtype != weight.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type {weight.type()} does not equal {per_sample_weights.type()} (while "
            "checking arguments for embedding_bag)"
        )
    rows = weight.size(0)
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but got {padding_idx}"
        )


def _bag_of_each(offsets, count, include_last_offset):
    """(number of bags, the bag of each of `count` indices); those behind a last offset are in one bag more."""
    if include_last_offset and offsets.numel() == 0:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if offsets.numel() > 0:
        first, last = int(offsets[0]), int(offsets[-1])
        if first != 0:
            raise RuntimeError(
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
                f"However, got {first}"
            )
        if last > count:
            raise RuntimeError(
                f"offsets[-1] can not be greater than input's length {count} but got offsets[-1] of {last}"
            )
    begins = C.zeros(count + 1, dtype=C.int64).index_add(0, offsets.to(C.int64), C.ones(offsets.shape, dtype=C.int64))
    return offsets.size(0), begins.cumsum(0)[:count] - 1


def _largest_of_bags(rows, keep, bag, bags):
    """The largest elements of the rows of each bag that count, zeros where none does."""
    counts = C.zeros(bags, dtype=C.int64).index_add(0, bag, keep.to(C.int64))
    length = int(counts.max()) if bags else 0
    if length == 0:
        return C.zeros(bags, rows.size(1), dtype=rows.dtype) + 0 * rows.sum()
    order = keep.to(C.int64).cumsum(0) - 1
    place = order - (counts.cumsum(0) - counts).index_select(0, bag)
    table = C.full((bags * length,), rows.size(0), dtype=C.int64)  # the row behind the last
    kept = keep.nonzero().squeeze(1)
    table = table.scatter(0, (bag * length + place).index_select(0, kept), kept)
    lowest = C.full((1, rows.size(1)), float("-inf"), dtype=rows.dtype)
    largest = C.cat([rows, lowest]).index_select(0, table).view(bags, length, -1).max(1)[0]
    return C.where((counts > 0).unsqueeze(1), largest, 0.0)


def embedding_bag(
    input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode="mean", sparse=False,
    per_sample_weights=None, include_last_offset=False, padding_idx=None,
):  # fmt: skip
    """The sum, mean or largest elements of the rows of each bag: of a row of input, or from one offset to the next."""
    _check_bags(input, weight, offsets, per_sample_weights, mode, scale_grad_by_freq, padding_idx)
    if input.dim() == 2 and input.numel() > 0 and padding_idx is None and not sparse:
        rows = embedding(input, weight, None, max_norm, norm_type, scale_grad_by_freq)
        if per_sample_weights is not None:
            rows = rows * per_sample_weights.unsqueeze(2)
        total = rows.max(1)[0] if mode == "max" else rows.sum(1) if mode == "sum" else rows.mean(1)
        return C._ops.named(total, "EmbeddingBagBackward0")
    if input.dim() == 2:
        bags, length = input.shape
        wanted, bag = bags, C.arange(bags, device=input.device).repeat_interleave(length)
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    else:
        bags, bag = _bag_of_each(offsets, input.size(0), include_last_offset)
        wanted = bags - 1 if include_last_offset else bags
    if sparse and mode == "max":
        raise ValueError("max mode does not support sparse weights")
    skipped = padding_idx if sparse else None  # rows without weight are no part of a sparse gradient
    rows = embedding(input, weight, skipped, max_norm, norm_type, scale_grad_by_freq, sparse)
    keep = input == input if padding_idx is None else input != padding_idx % weight.size(0)
    if mode == "max":
        return C._ops.named(_largest_of_bags(rows, keep, bag, bags)[:wanted], "EmbeddingBagBackward0")
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if padding_idx is not None:
        rows = C.where(keep.unsqueeze(1), rows, 0.0)
    total = C.zeros(bags, weight.size(1), device=rows.device, dtype=rows.dtype).index_add(0, bag, rows)
    if mode == "mean":
        counts = C.zeros(bags, device=rows.device, dtype=rows.dtype).index_add(0, bag, keep.to(rows.dtype))
        total = total / counts.clamp(min=1.0).unsqueeze(1)
    return C._ops.named(total[:wanted], "EmbeddingBagBackward0")


def one_hot(tensor, num_classes=-1):
    return records.one_hot(tensor, num_classes)
