"""Padding with constants, reflections, edges or the other side."""

import _terra_C as C

__all__ = ["pad"]


def _source(size, before, after, mode):
    """For each position of the padded dimension, the position of the input that is copied there."""
    if mode == "circular":
        return [(i - before) % size for i in range(size + before + after)]
    if mode == "replicate":
        return [min(max(i - before, 0), size - 1) for i in range(size + before + after)]
    period = max(2 * (size - 1), 1)  # reflect: the edge itself is not repeated
    folded = [(i - before) % period for i in range(size + before + after)]
    return [f if f < size else period - f for f in folded]


def pad(input, pad, mode="constant", value=None):
    if mode == "constant":
        return C._ops.constant_pad(input, list(pad), 0 if value is None else value)
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    for i in range(len(pad) // 2):
        before, after, dim = pad[2 * i], pad[2 * i + 1], input.dim() - 1 - i
        size = input.size(dim)
        if mode == "reflect" and (before >= size or after >= size):
            raise RuntimeError(
                f"Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
                f"({before}, {after}) at dimension {dim} of input {list(input.shape)}"
            )
        if mode == "circular" and (before > size or after > size):
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if before or after:
            input = input.index_select(dim, C.tensor(_source(size, before, after, mode)))
    return input
