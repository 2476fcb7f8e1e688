# run: --torch
# run: --torch --capture=stress
"""Products over the entries of CSR matrices: sampled_addmm and mm with a reduction, their gradients and refusals; as
PyTorch's."""

import pathlib
import sys

import torch
from torch import sparse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

A = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]]).to_sparse_csr()
B = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0]]).to_sparse_csr()
D = torch.tensor([[1.0, -2.0], [3.0, 4.0], [-5.0, 6.0]])
p, q = torch.arange(4.0).reshape(2, 2), torch.arange(6.0).reshape(2, 3)


def sampled(**factors):
    result = sparse.sampled_addmm(A, p, q, **factors)
    return result.layout, result.to_dense()


def sampled_gradients():
    a, x, y = A.detach().requires_grad_(), p.clone().requires_grad_(), q.clone().requires_grad_()
    (sparse.sampled_addmm(a, x, y, beta=0.5, alpha=2).to_dense() * q).sum().backward()
    return a.grad.to_dense(), x.grad, y.grad


def written():
    out = A.clone()
    result = sparse.sampled_addmm(A, p, q, beta=0, out=out)
    return result.to_dense(), out.to_dense()


def reduced(reduce):
    b, d = B.detach().requires_grad_(), D.clone().requires_grad_()
    result = sparse.mm(b, d, reduce)
    (result * torch.arange(6.0).reshape(3, 2)).sum().backward()
    return result, b.grad.to_dense(), d.grad


def often():
    return [sparse.mm(B, D + i, "amax").sum() + sparse.sampled_addmm(A, p + i, q).values().sum() for i in range(6)]


CALLS = """
sampled() | sampled(beta=0.5, alpha=2) | sampled(beta=0) | sampled_gradients() | written() | often()
reduced("sum") | reduced("mean") | reduced("amax") | reduced("amin") | sparse.mm(B, D, reduce="amax") | sparse.mm(B, D)
sparse.sampled_addmm(A, p, q.t()) | sparse.sampled_addmm(A, p[0], q) | sparse.sampled_addmm(A, torch.ones(3, 2), q)
sparse.sampled_addmm(A, A, q) | sparse.sampled_addmm(A, p, torch.ones(2, 4)) | sparse.mm(B, B, "sum") | sparse.mm(D.t(), B, "sum")
sparse.mm(B, D, "prod") | sparse.mm(B, D, "x")
"""
check(list(outcomes(CALLS, globals())), __file__)
