"""Distances and similarities of vectors."""

import _terra_C as C

__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    x1, x2 = C.broadcast_tensors([x1, x2])
    n1 = (x1 * x1).sum(dim, keepdim=True).sqrt().clamp(min=eps)
    n2 = (x2 * x2).sum(dim, keepdim=True).sqrt().clamp(min=eps)
    return ((x1 / n1) * (x2 / n2)).sum(dim)


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return (x1 - x2 + eps).norm(p, -1, keepdim=keepdim)


def pdist(input, p=2.0):
    n = input.size(0)
    rows = [i for i in range(n) for _ in range(i + 1, n)]
    columns = [j for i in range(n) for j in range(i + 1, n)]
    return (input[C.tensor(rows)] - input[C.tensor(columns)]).norm(p, -1)
