# run: --torch
# run: --torch --capture=off
"""Second derivatives of products with sparse matrices: those of the dense product."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import wave  # noqa: E402

PLACES = torch.tensor([[0, 0, 1, 2, 2], [1, 3, 0, 2, 2]])


def by_entries(values, dense):
    return torch.sparse.mm(torch.sparse_coo_tensor(PLACES, values, (3, 4)), dense)


def by_matrix(values, dense):
    return torch.zeros(3, 4, dtype=values.dtype).index_put(tuple(PLACES), values, True) @ dense


def derivatives(product):
    values, dense = wave(5).requires_grad_(), wave(4, 2).requires_grad_()
    first = torch.autograd.grad((product(values, dense) ** 3).sum(), (values, dense), create_graph=True)
    second = torch.autograd.grad((first[0] ** 2).sum() + (first[1] ** 2).sum(), (values, dense))
    return *first, *second


for ours, meant in zip(derivatives(by_entries), derivatives(by_matrix)):
    assert torch.allclose(ours, meant, rtol=1e-12), (ours, meant)
assert torch.autograd.gradcheck(by_entries, (wave(5).requires_grad_(), wave(4, 2).requires_grad_()))
