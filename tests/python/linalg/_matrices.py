"""Matrices of fixed numbers for the tests of this folder."""

import torch

D = torch.float64


def matrix(rows, columns, seed=0, dtype=D):
    """Numbers between -1 and 1 without a pattern."""
    values = [((i + 1) ** 2 * 0.6180339887 + (i + 3) * seed * 0.4142135623) % 1 * 2 - 1 for i in range(rows * columns)]
    return torch.tensor(values, dtype=dtype).reshape(rows, columns)


def batch(*sizes, seed=0, dtype=D):
    """Matrices of the last two sizes in a batch of those before."""
    count = 1
    for size in sizes[:-2]:
        count *= size
    parts = [matrix(sizes[-2], sizes[-1], seed + i, dtype) for i in range(count)]
    return torch.stack(parts).reshape(sizes) if parts else torch.zeros(sizes, dtype=dtype)


def positive(t):
    """A symmetric positive definite matrix from any one."""
    return t @ t.mT + torch.eye(t.shape[-2], dtype=t.dtype)


def symmetric(t):
    return (t + t.mT) / 2


A, B = matrix(4, 4), matrix(4, 2, 1)
TALL, WIDE = matrix(5, 3, 2), matrix(3, 5, 3)
BATCH, SIDES = batch(2, 4, 4, seed=4), batch(2, 4, 2, seed=6)
SPD, SYMMETRIC = positive(A), symmetric(A)
