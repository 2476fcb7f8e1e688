# run: --torch
# run: --torch --capture=off
"""Sparse tensors: how they are made, what functions and operators give, what they refuse, as PyTorch has it. Of an
error the type is compared; of a sparse result the layout, the size and what coalesce() makes of it."""

import copy
import pathlib
import pickle
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

warnings.simplefilter("ignore")

T = torch.tensor
I, V = T([[0, 1, 1], [2, 0, 2]]), T([3.0, 4.0, 5.0])
A = torch.sparse_coo_tensor(I, V, (2, 3))  # in order, though nobody said so
C = A.coalesce()
U = torch.sparse_coo_tensor(T([[1, 0, 1], [0, 2, 0]]), V, (2, 3))  # a place twice
N = torch.sparse_coo_tensor(I, T([-1.5, 0.5, 0.25]), (2, 3))
H = torch.sparse_coo_tensor(T([[2, 0, 2]]), torch.arange(6.0).view(3, 2), (4, 2))  # rows for values
B = torch.sparse_coo_tensor(T([[1, 0, 1], [0, 1, 1], [2, 2, 0]]), V, (2, 2, 3))
E = torch.sparse_coo_tensor(size=(2, 3))
L = torch.sparse_coo_tensor(I, T([7, -8, 9]), (2, 3))
Z = torch.sparse_coo_tensor(I, T([1 + 2j, 3 - 1j, 2j]), (2, 3))
D, D2, W = torch.arange(6.0).view(2, 3), torch.arange(6.0).view(3, 2) - 2, T([1.0, -2.0, 0.5])
R = torch.sparse_csr_tensor(T([0, 1, 3]), T([2, 0, 2]), V, (2, 3))

MADE = """
A | C | U | H | B | E | L | Z | torch.sparse_coo_tensor(I, V) | torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0])
torch.sparse_coo_tensor(I.int(), V)._indices().dtype | torch.sparse_coo_tensor(I, V, dtype=torch.float64)
torch.sparse_coo_tensor(I, V, device="cpu").device | torch.sparse_coo_tensor((2, 3))
torch.sparse_coo_tensor(I, 2.0, (2, 3)) | torch.sparse_coo_tensor(torch.zeros(0, 1, dtype=torch.int64), T([3.0]), ())
torch.sparse_coo_tensor(torch.zeros(2, 0).long(), [], (2, 3)) | torch.sparse_coo_tensor(I.numpy(), V.numpy(), (2, 3))
torch.sparse_coo_tensor(I, V, torch.Size([2, 3])) | torch.sparse_coo_tensor(I, V[:2])
torch.sparse_coo_tensor(I, V, (2, 3, 4)) | torch.sparse_coo_tensor(I, V, (2, 2), check_invariants=True)
torch.sparse_coo_tensor(I - 1, V) | torch.sparse_coo_tensor(I, V, (2, 3), is_coalesced=True).is_coalesced()
torch.sparse_coo_tensor(T([0, 1, 1]), V) | torch.sparse_coo_tensor(I[:, :1], V[:1], (2, 3)).is_coalesced()
torch.sparse_coo_tensor(I[:, :0], V[:0], (2, 3)).is_coalesced() | torch.sparse_coo_tensor(I, V).is_coalesced()
torch.sparse_coo_tensor(I[:, :1], V[:1], (2, 3), is_coalesced=False).is_coalesced()
torch.sparse_coo_tensor(U._indices(), V, (2, 3), is_coalesced=True, check_invariants=True)
torch.sparse_coo_tensor(I, torch.ones(3, 2), (2, 3, 4)) | torch.sparse_coo_tensor(I, L._values(), requires_grad=True)
torch.sparse_coo_tensor(I, V, requires_grad=True).requires_grad | torch.sparse.FloatTensor(I, V, torch.Size([2, 3]))
torch.sparse.FloatTensor(2, 3) | torch.sparse.DoubleTensor(I, V.double(), (2, 3))
torch.sparse.LongTensor(I, T([1, 2, 3])) | isinstance(A, torch.sparse.FloatTensor) | isinstance(A, torch.Tensor)
torch.is_tensor(A) | torch.eye(3).to_sparse() | torch.eye(3).to_sparse(1) | torch.eye(3).to_sparse(4)
torch.eye(3).to_sparse(0) | T(3.0).to_sparse() | T(0.0).to_sparse() | torch.zeros(2, 3).to_sparse() | D.to_sparse()
torch.zeros(2, 3, layout=torch.sparse_coo) | torch.empty(2, 3, layout=torch.sparse_coo)
torch.zeros_like(V, layout=torch.sparse_coo) | torch.ones(2, 3, layout=torch.sparse_coo) | torch.zeros_like(A)
torch.empty_like(H) | A.new_zeros(4, 2) | A.new_tensor([1.0]) | torch.ones_like(A) | torch.rand_like(A)
torch.full_like(A, 2.0) | D.sparse_mask(U) | D.sparse_mask(C) | D.sparse_mask(D) | D.sparse_mask(H) | A.sparse_mask(N)
N.sparse_mask(U) | torch.sparse.spdiags(torch.arange(6.0).view(2, 3), T([0, 1]), (3, 3))
torch.sparse.spdiags(torch.ones(3), T([-1]), (4, 3)) | torch.sparse.spdiags(torch.ones(2, 3), T([0, 0]), (3, 3))
torch.sparse.check_sparse_tensor_invariants.is_enabled() | A.clone() | A.detach() | A.data | copy.deepcopy(U)
copy.copy(U) | pickle.loads(pickle.dumps(U))
"""
ASKED = """
A.is_sparse | D.is_sparse | A.layout | D.layout | A.is_sparse_csr | A.shape | A.size(1) | A.dim() | A.ndim | A.numel()
A.dtype | A.device | A._nnz() | H._nnz() | A.sparse_dim() | H.sparse_dim() | H.dense_dim() | D.sparse_dim()
D.dense_dim() | A.is_coalesced() | C.is_coalesced() | E.is_coalesced() | A._indices() | A._values() | C.indices()
C.values() | A.indices() | A.values() | D.indices() | D.values() | D.coalesce() | D.is_coalesced() | D._nnz()
D._indices() | U.coalesce() | H.coalesce() | B.coalesce() | C.coalesce() is C | A.to_dense() | U.to_dense()
H.to_dense() | B.to_dense() | E.to_dense() | L.to_dense() | D.to_dense() | A.to_dense(dtype=torch.float64) | A.type()
A.double() | A.to(torch.float64) | A.to("cpu") is A | A.float() is A | A.int() | A.bool() | A.half().dtype
A.type(torch.float64) | A.type_as(L) | A.to(D.double()) | A.cpu() is A | A.is_floating_point() | A.is_complex()
A.is_signed() | A.element_size() | A.requires_grad | A.is_leaf | A.grad | A.grad_fn | A.is_contiguous() | len(A)
A.is_same_size(U) | A.get_device() | A.is_cuda | A.stride() | repr(A) | repr(H) | repr(E) | repr(A.double()) | str(L)
f"{U}" | repr(B) | repr(Z) | repr(torch.sparse_coo_tensor(I, V, requires_grad=True))
repr(torch.eye(120).to_sparse() * 1.5) | repr(R) | repr(R.double()) | hash(A) == hash(A) | A.numpy() | A.tolist()
A.item() | bool(A) | A.data_ptr() | A.storage() | A.untyped_storage() | A.nbytes | A.contiguous() | A.is_shared()
A.view(6) | A.reshape(6) | A.expand(2, 2, 3) | int(A) | A.share_memory_() | A.apply_(abs) | A.nonzero() | A.equal(A)
torch.allclose(A, A) | 3.0 in A
"""
FUNCTIONS = """
A + A | A + U | U + U | C + C | A - N | A + L | A + 1 | 1 + A | A + D | D + A | D + U | D - U | D + H | U - D | D + L
A + E | torch.add(A, N, alpha=2) | torch.add(D, U, alpha=2) | torch.sub(D, U) | A + torch.sparse_coo_tensor(size=(1, 3))
A * 2 | 2 * A | A * T(2.0) | L * 2.5 | A * D | D * A | A * W | A * T([[1.0], [2.0]]) | A * N | A * U | A * E | H * 2
H * H | Z * 1j | A * True | A / 2 | A / T(2.0) | A / D | A / A | 2 / A | A // 2 | L // 2 | L / 2
A.div(2, rounding_mode="floor") | U ** 2 | A ** -1 | A ** 0 | 2 ** A | A % 2 | -U | +U | abs(N) | A == A | A < 1 | ~L
L & L | N.abs() | N.sign() | U.sqrt() | N.relu() | N.sin() | N.asin() | N.sinh() | N.asinh() | N.tan() | N.atan()
N.tanh() | N.atanh() | N.erf() | N.expm1() | N.log1p() | N.ceil() | N.floor() | N.round() | N.trunc() | N.frac()
N.square() | N.sgn() | N.signbit() | N.isnan() | N.isinf() | N.neg() | N.negative() | N.positive() | N.deg2rad()
N.rad2deg() | N.erfinv() | Z.conj() | Z.abs() | N.nan_to_num() | torch.abs(N) | torch.sqrt(U) | torch.relu(N) | N.exp()
N.cos() | N.log() | N.sigmoid() | N.clamp(0, 1) | torch.softmax(N, 1) | N.argmax() | N.max() | N.mean() | N.std()
N.prod() | N.cumsum(0) | N.sort() | torch.where(A, A, A) | torch.nn.functional.gelu(N) | U.norm() | U.norm(1)
U.norm(float("inf")) | U.norm(2, dim=(0, 1)) | U.norm(2, dim=0) | A.any() | A.sum() | U.sum(0) | A.sum(1) | A.sum(-1)
A.sum((0, 1)) | A.sum(0, keepdim=True) | L.sum() | L.sum(0) | L.int().sum(0) | torch.sparse.sum(L.int(), 0)
L.bool().sum(1) | L.to(torch.uint8).sum(0) | A.sum(5) | torch.sum(A) | torch.sparse.sum(A) | torch.sparse.sum(U, 0)
torch.sparse.sum(A, dim=1) | torch.sparse.sum(A, [0, 1]) | torch.sparse.sum(H, 0) | torch.sparse.sum(H, 1)
torch.sparse.sum(A, dtype=torch.float64) | torch.sparse.sum(D) | torch.sparse.softmax(A, 1) | torch.sparse.softmax(A, 0)
torch.sparse.softmax(U, 1) | torch.sparse.softmax(H, 1) | torch.sparse.softmax(H, 0) | torch.sparse.softmax(B, 1)
torch.sparse.softmax(A, -1, dtype=torch.float64) | torch.sparse.log_softmax(A, 1) | torch.sparse.log_softmax(B, 2)
torch.sparse.log_softmax(H, 0) | torch.sparse.softmax(E, 1) | torch.sparse.softmax(A, 2) | torch.sparse.softmax(D, 1)
torch.sparse.softmax(L, 1)
"""
PRODUCTS = """
D @ T([0.0, 2.0, 0.0]).to_sparse() | T([0.0, 2.0, 0.0]).to_sparse() @ D2 | torch.sparse_coo_tensor(size=(0, 3)) @ D2
torch.sparse_coo_tensor(size=(2, 0)) @ torch.ones(0, 2) | A @ torch.ones(3, 0) | A.half() @ D2.half()
A.bfloat16() @ D2.bfloat16() | A @ D2 | U @ D2 | A.mm(D2) | torch.mm(U, D2) | torch.spmm(A, D2) | torch.spmm(D, D2)
torch.dsmm(A, D2) | torch.hsmm(A, D2).to_dense() | torch.saddmm(A @ A.t(), A, A.t().to_dense()).to_dense()
torch.sparse.mm(A, D2) | torch.sparse.mm(D, D2) | torch.matmul(A, D2) | A @ W | A.mv(W) | torch.mv(U, W) | A.matmul(W)
D2 @ A | torch.mm(D2, U) | torch.sparse.mm(D2, A) | T([1.0, 2.0]) @ A | A @ U.t() | torch.sparse.mm(U, A.t())
torch.mm(A, A.t()) | L @ torch.ones(3, 2).long() | Z @ D2.to(Z.dtype) | A.double() @ D2.double() | E @ D2 | D2 @ E
A @ D | A @ U | D @ A | A @ D2.double() | L @ D2 | A @ torch.ones(2, 3, 2) | H @ D2.t()
torch.bmm(B, torch.arange(24.0).view(2, 3, 4)) | torch.bmm(A, D) | B.mm(D) | torch.addmm(D[:, :2], A, D2)
torch.sparse.addmm(D[:, :2], A, D2, beta=2, alpha=3) | torch.sparse.addmm(torch.ones(1, 2), A, D2)
torch.addmm(D[:, :2], D, D2) | A.addmm(D, D2) | torch.smm(A, D2) | torch.smm(D, D2) | torch.nn.functional.linear(A, D)
torch.nn.functional.linear(D, A) | torch.nn.functional.linear(A, D, T([1.0, 2.0])) | torch.ones(0, 3) @ A.t()
torch.dot(A, A) | torch.einsum("ij,jk->ik", A, D2)
"""
SHAPES = """
A.t() | U.t() | A.T | A.mT | A.transpose(0, 1) | torch.transpose(U, 0, 1) | B.transpose(0, 2) | B.permute(2, 0, 1)
B.permute(0, 1) | H.transpose(0, 1) | B.t() | A.swapaxes(0, 1) | B.movedim(0, 2) | A.t().is_coalesced() | Z.H
A.unsqueeze(0) | A.unsqueeze(-1) | H.unsqueeze(1) | H.unsqueeze(2) | A.select(0, 1) | A.select(1, 2) | A.select(0, 2)
H.select(1, 0) | H.select(0, 2) | A[0] | A[-1] | A[0, 2] | A[:, 0] | A[..., 2] | A[None] | A[0:1] | A[[1, 0]] | A[A]
A[5] | B[1] | B[1, 0] | B[1, 0, 2] | H[2] | A.index_select(0, T([1, 1, 0])) | A.index_select(1, T([2, 0]))
torch.index_select(U, 0, T([1])) | H.index_select(0, T([2, 3])) | H.index_select(1, T([1])) | A.index_select(0, T([2]))
A.index_select(0, T([0.5])) | A.narrow_copy(0, 0, 1) | A.narrow_copy(1, 1, 2) | A.narrow(0, 0, 1) | torch.cat([A, U])
torch.cat([A, U], 1) | torch.cat([H, H], 1) | torch.cat([A, D]) | torch.cat([A, H]) | torch.cat([A, B])
torch.stack([A, U]) | torch.stack([A, A], 2) | A.unbind(0) | [row for row in A] | A.squeeze() | A.flatten()
A.repeat(2, 2) | A.flip(0) | A.chunk(2) | A.split(1)
"""
IN_PLACE = """
A.clone().mul_(2) | A.clone().add_(N) | A.clone().add_(D) | D.clone().add_(U) | D.clone().add_(U, alpha=-2)
D.clone().sub_(U) | D.clone().mul_(A) | D.clone().add_(H) | A.clone().zero_() | H.clone().zero_() | A.clone().div_(2)
A.clone().neg_() | U.clone().sqrt_() | A.clone().abs_() | A.clone().fill_(2) | A.clone().copy_(N) | A.clone().copy_(D)
D.clone().copy_(A) | torch.sqrt(A, out=A.clone()) is None | grown(A) | grown(D) | A.clone().requires_grad_().mul_(2)
A.clone().clamp_(0, 1) | A.clone().exp_() | set_item()
"""
COMPRESSED = """
R | R.crow_indices() | R.col_indices() | R.values() | R.layout | R.is_sparse | R.is_sparse_csr | R._nnz() | R.to_dense()
R.shape | R.dtype | A.to_sparse_csr() | D.to_sparse_csr() | D.to_sparse(layout=torch.sparse_csr) | R.to_sparse()
R.to_sparse_csc() | R.to_sparse_csc().ccol_indices() | D.to_sparse_csc().row_indices() | R @ D2 | R @ W
torch.mm(R, D2) | torch.sparse.mm(R, D2) | D2 @ R | R * 2 | R + R | R.t() | R.t().to_dense() | R.transpose(0, 1).layout
R.double() | R.clone() | R.sin() | -R | R.abs() | R.ccol_indices() | R.coalesce() | R.row_indices() | R.indices()
D.crow_indices() | R.numpy() | torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [1.0, 2.0, 3.0])
torch.sparse_csr_tensor(T([0, 1, 2]), T([2, 0, 2]), V, (2, 3), check_invariants=True)
torch.sparse_csr_tensor(T([0, 1, 3]), T([2, 0, 3]), V, (2, 3), check_invariants=True)
torch.sparse_csc_tensor(T([0, 1, 1, 3]), T([1, 0, 1]), V, (2, 3)).to_dense() | torch.addmm(D[:, :2], R, D2)
torch.sparse.sum(A.to_sparse_csr()) | A.to_sparse_csr().requires_grad | pickle.loads(pickle.dumps(R))
torch.sparse_csr_tensor(T([0, 1, 3]), T([2, 0, 2]), V, (2, 3), requires_grad=True).requires_grad
"""


def grown(tensor):
    result = tensor.clone()
    result += U
    return result


def set_item():
    A.clone()[0] = 1.0


def shown(value):
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return [shown(v) for v in value]
    if not isinstance(value, torch.Tensor) or value.layout is torch.strided:
        first = value.split(" ")[0] if isinstance(value, str) else ""
        return first if first.endswith("Error") else value
    about = [str(value.layout), list(value.shape)]
    if value.layout is torch.sparse_coo:
        value = value.coalesce()
        return [*about, value.indices(), value.values()]
    if value.layout is torch.sparse_csr:
        return [*about, value.crow_indices(), value.col_indices(), value.values()]
    return [*about, value.ccol_indices(), value.row_indices(), value.values()]


def items():
    for table in (MADE, ASKED, FUNCTIONS, PRODUCTS, SHAPES, IN_PLACE, COMPRESSED):
        for text, value in outcomes(table, globals()):
            yield text, shown(value)


check(items(), __file__)
