"""Distances and similarities of vectors."""

import _terra_C as C

__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]

cosine_similarity = C._functional.cosine_similarity


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    return (x1 - x2 + eps).norm(p, -1, keepdim=keepdim)


def pdist(input, p=2.0):
    n = input.size(0)
    rows = [i for i in range(n) for _ in range(i + 1, n)]
    columns = [j for i in range(n) for j in range(i + 1, n)]
    rows, columns = C.tensor(rows, dtype=C.int64), C.tensor(columns, dtype=C.int64)
    return (input[rows] - input[columns]).norm(p, -1)
