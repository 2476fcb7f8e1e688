# run: --torch
# run: --torch --capture=off
"""lobpcg: the extreme eigenvalues of symmetric matrices, alone and in pairs of matrices, with vectors that belong to them."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

torch.manual_seed(0)
full = wave(40, 40)
A = full @ full.T + torch.diag(torch.arange(40.0).double())
B = torch.diag(1 + torch.arange(40.0).double() / 10)
sparse = torch.diag(torch.arange(1.0, 31.0)).to_sparse()
results = []


def found(A, B=None, **options):
    values, vectors = torch.lobpcg(A, B=B, **options)
    dense, metric = (A.to_dense() if A.is_sparse else A), (torch.eye(A.shape[-1], dtype=A.dtype) if B is None else B)
    residual = (dense @ vectors - metric @ vectors * values.unsqueeze(-2)).norm() / dense.norm()
    gram = vectors.mT @ metric @ vectors
    return [values, vectors.shape, residual.item() < 1e-3, torch.allclose(gram, torch.eye(gram.shape[-1], dtype=A.dtype).expand(gram.shape), atol=1e-3)]


for options in ({"k": 1}, {"k": 3}, {"k": 3, "largest": False}, {"k": 2, "method": "basic"}, {"k": 2, "n": 4}, {"X": wave(40, 2)}):
    results.append((str(sorted(set(options) - {"X"})), found(A, **options)))
results.append(("a pair", found(A, B, k=2)))
results.append(("float32", found(A.float(), k=2)))
results.append(("preconditioned", found(A, k=2, largest=False, iK=torch.diag(1 / A.diagonal()))))
results.append(("many", found(torch.stack([A, A * 2]), k=2)))
results.append(("sparse", found(sparse, k=2)))
results.append(("few steps", torch.lobpcg(A, k=2, niter=2)[1].shape))
try:
    torch.lobpcg(A[:5, :5], k=2)
except ValueError as error:
    results.append(("small", str(error)))

check(results, __file__)
