"""Distances and similarities of vectors."""

import _terra_C as C

__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]

cosine_similarity = C._functional.cosine_similarity


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return (x1 - x2 + eps).norm(p, -1, keepdim=keepdim)


def pdist(input, p=2.0):
    """The distances of all pairs of rows, in the order of the upper triangle."""
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    number = C.arange(input.size(0))
    rows, columns = (number.unsqueeze(1) < number).nonzero(as_tuple=True)
    return (input.index_select(0, rows) - input.index_select(0, columns)).norm(p, -1)
