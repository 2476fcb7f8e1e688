# run: --torch
"""What products, losses, draws and others say of operands whose dtypes or sizes don't fit."""

import pathlib
import sys
import warnings

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

warnings.simplefilter("ignore")
torch.manual_seed(0)
f, v, B, x = torch.ones(2, 2), torch.ones(2), torch.ones(2, 2, 2), torch.ones(3, 4, 2)
d, i, b, u, h = f.double(), f.long(), f.bool(), f.to(torch.uint8), f.half()
vd, vi, Bd = v.double(), v.long(), B.double()
nan = float("nan")
CALLS = """
torch.normal(torch.zeros(2), -1.0) | torch.normal(0.0, torch.tensor([-1.0, 1.0])) | torch.normal(torch.zeros(2), torch.tensor([-1.0, 1.0]))
torch.normal(torch.zeros(2), nan) | torch.normal(torch.zeros(2), torch.tensor([nan, 1.0])) | torch.normal(torch.zeros(0), torch.zeros(0))
torch.normal(torch.zeros(2), torch.ones(2).double()).dtype | torch.zeros(2).long().exponential_() | torch.normal(torch.zeros(2), torch.ones(3))
torch.mv(f, vd) | torch.mv(f, vi) | torch.matmul(f, vd) | torch.mm(f, d) | torch.mm(b, b) | torch.addmm(f, f, d) | torch.addmm(d, f, f)
torch.addmm(f, d, f) | torch.addmm(f, d, d) | torch.addmm(f, i, i) | torch.addmm(b, b, b) | torch.addmm(h, f, f) | torch.addbmm(f, B, Bd)
torch.addbmm(d, B, B) | torch.addbmm(f, Bd, Bd) | torch.addbmm(f, Bd, B) | torch.baddbmm(B, B, Bd) | torch.baddbmm(B, Bd, B) | torch.baddbmm(B, Bd, Bd)
F.linear(f, d) | F.linear(f, i) | F.linear(d, f) | F.linear(f, d, v) | F.linear(d, f, v) | F.linear(f, f, vd) | F.linear(B, d)
torch.tensordot(f, d) | torch.tensordot(f, d, dims=1) | torch.tensordot(f, f, dims=3) | torch.tensordot(f, torch.ones(3, 3), dims=1)
torch.tensordot(f, f, dims=-1) | torch.tensordot(f, f, dims=([0], [0, 1])) | torch.tensordot(f, f, dims=([0, 0], [0, 1]))
torch.tensordot(f, f, dims=([2], [0])) | torch.tensordot(f, f, dims=(0, 1)) | torch.tensordot(f, f, dims=1.5) | torch.tensordot(f, f, dims=torch.tensor(1))
torch.tensordot(f, torch.ones(3, 2), dims=2) | torch.tensordot(f, torch.ones(3, 2), dims=([0], [0])) | torch.tensordot(f, torch.ones(1, 2), dims=([0], [0])).shape
F.bilinear(f, d, B) | F.bilinear(f, f, Bd) | F.bilinear(f, f, B, vd) | F.bilinear(f, f, torch.ones(2, 3, 2)) | F.bilinear(f, torch.ones(3, 2), B)
F.bilinear(f, f, B, torch.ones(3)) | F.bilinear(f, v, B) | F.bilinear(x, x, B).shape | F.bilinear(x, torch.ones(4, 4, 2), B) | F.bilinear(f, torch.ones(2, 3), B)
torch.lerp(i, i, 0.5) | torch.lerp(i, i, i) | torch.lerp(b, b, 0.5) | torch.lerp(i, i, 1) | torch.lerp(u, u, 0.5) | i.clone().lerp_(i, 0.5)
torch.addcdiv(i, i, i) | torch.addcdiv(f, i, i) | torch.addcdiv(b, b, b) | torch.addcdiv(f, i, f) | i.clone().addcdiv_(i, i) | torch.addcdiv(i, f, f)
b // b | b % b | torch.lcm(b, b) | abs(b) | torch.floor(b) | torch.ceil(b) | torch.round(b) | torch.trunc(b) | torch.addcmul(b, b, b) | torch.trace(b)
F.silu(i) | F.mish(i) | F.glu(i) | F.glu(b) | F.prelu(i, v) | F.prelu(f, vd) | F.logsigmoid(i) | F.layer_norm(i, (2,)) | F.group_norm(i, 1)
F.mse_loss(i, i) | F.mse_loss(f, i) | F.smooth_l1_loss(i, i) | F.smooth_l1_loss(i, f) | F.huber_loss(i, i) | F.batch_norm(i, None, None, training=True)
F.cross_entropy(f, v) | F.cross_entropy(f, torch.ones(2, 3)) | F.nll_loss(f, v) | F.nll_loss(f, vi.bool()) | F.cross_entropy(torch.ones(2, 3, 4), torch.zeros(2, 3).long())
F.nll_loss(f[0, 0], torch.tensor(0)) | F.nll_loss(f, torch.zeros(2, 3).long()) | F.nll_loss(torch.ones(2, 3, 4), torch.zeros(3, 4).long())
F.binary_cross_entropy(f, i) | F.binary_cross_entropy(f, d) | F.binary_cross_entropy_with_logits(f, i) | F.kl_div(f, i) | F.kl_div(i, i)
torch.bincount(v) | f.expand(2) | f.unflatten(0, (3, 1)) | f.unflatten(0, (-1, 1)).shape | torch.nn.Unflatten(1, (3, 1))(f) | torch.nn.Unflatten(1, 3.0)
torch.nn.Hardtanh(2, 1) | torch.nn.MultiMarginLoss(weight=f) | torch.nn.GRUCell(2, 3)(torch.ones(1, 2), torch.ones(2, 3)) | torch.nn.GRUCell(2, 3)(f, f)
torch.nn.utils.rnn.pad_sequence(3) | torch.nn.utils.vector_to_parameters([1], []) | torch.vmap(lambda a: a)() | torch.cat([])
f.clone().__setitem__(0, "a") | f.clone().__setitem__(0, [1, 2]) | f.clone().__setitem__((0, 0), torch.ones(2)) | f.clone().__setitem__(slice(0, 1), torch.ones(2, 2))
f.clone().__setitem__(vi, torch.tensor(3)) | torch.softmax(i, 0) | torch.softmax(i, 1) | torch.log_softmax(i, 0) | F.relu(b) | f.masked_fill(i, 0)
f.masked_fill(h, 0) | f.scatter_add(0, i * 0, d) | f.select(0, 5) | torch.select(f, 1, -3) | f.bfloat16().numpy()
torch.manual_seed(5).initial_seed() | torch.zeros(8).long().bernoulli_(torch.full((8,), 0.5)) | torch.zeros(2, 3).bernoulli_(torch.tensor([0.2, 0.5, 0.9]))
f.repeat_interleave(torch.tensor([1, 2, 3]), 0) | f.repeat_interleave(torch.tensor([1, 2, 3])) | f.repeat_interleave(i, 0)
"""
check(list(outcomes(CALLS, globals())), __file__)
