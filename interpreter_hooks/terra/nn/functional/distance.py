"""Distances and similarities of vectors."""

import _terra_C as C

from ._words import scalar_type

__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]

cosine_similarity = C._functional.cosine_similarity


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return C._ops.named((x1 - x2 + eps).norm(p, -1, keepdim=keepdim), "NormBackward1")


def pdist(input, p=2.0):
    """The distances of all pairs of rows, in the order of the upper triangle."""
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if not input.is_floating_point():
        raise RuntimeError("pdist only supports floating-point dtypes")
    if input.dtype not in (C.float32, C.float64):
        raise NotImplementedError(f"\"pdist\" not implemented for '{scalar_type(input)}'")
    return C._ops.distances(input, input, p, True)
