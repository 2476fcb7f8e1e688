# run: --torch
"""Forms of functions that programs write now and then: results, dtypes and sentences as PyTorch's."""

import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes, wave  # noqa: E402

warnings.simplefilter("ignore")
NAMES = {
    "torch": torch, "F": torch.nn.functional, "x": wave(2, 3), "b": torch.tensor([True, False, True]), "wave": wave,
    "i": torch.tensor([[1, 2], [3, 4]]), "byte": torch.tensor([2, 0, 1], dtype=torch.uint8), "nan": float("nan"),
    "inf": float("inf"), "E": torch.empty(0), "E33": torch.ones(0, 3, 3), "grad": lambda f, t: torch.autograd.grad(f(t), t)[0],
    "v": wave(3).requires_grad_(),
}  # fmt: skip
items = list(
    outcomes(
        """
torch.where(byte, x, 0.0) | torch.where(byte, x, -x) | x.where(byte, x * 2) | grad(lambda t: torch.where(byte, t, 2 * t).sum(), v)
torch.pow(b, True) | torch.pow(b, False) | torch.pow(b, 2) | torch.pow(b, b) | torch.pow(True, b) | b.clone().pow_(True) | b ** True
torch.gather(torch.arange(3), 0, E) | torch.gather(torch.arange(3), 0, byte) | torch.unravel_index(byte, (2, 2))
torch.addmv(i[0], i, i[1], beta=0.6, alpha=2.7) | torch.addbmm(i.int(), i.int()[None], i.int()[None], beta=1.7, alpha=2.7)
torch.addr(i, i[0], i[1], beta=1.7) | torch.addr(i > 1, b[:2], b[:2], beta=3, alpha=0) | torch.addr(i > 1, b[:2], b[:2], beta=0.5)
torch.logit(torch.tensor([0.1, 0.5, 0.9, nan]), 0.6) | torch.logit(torch.tensor([0.1, 0.5, 0.9, nan]), 0.2)
torch.special.zeta(b, False) | torch.special.zeta(2, x.abs() + 1) | torch.special.zeta(x.abs() + 2, 1)
torch.special.entr(torch.tensor([0.5, 0.0, -1.0, nan])) | torch.special.entr(byte, out=torch.empty(3)) | torch.special.ndtr(byte)
torch.special.ndtr(x, out=x.new_empty(0)) | torch.special.xlog1py(x, 2) | torch.special.xlog1py(2, x.abs())
torch.special.xlog1py(torch.tensor([0.0, 0.0, 1.0]), torch.tensor([-1.0, nan, -1.0])) | torch.special.xlog1py(byte, byte)
grad(lambda t: torch.special.ndtr(t).sum(), v) | grad(lambda t: torch.special.entr(t.abs() + 1).sum(), v)
grad(lambda t: torch.special.xlog1py(t, t.abs()).sum(), v)
torch.unique_consecutive(b, return_inverse=False, return_counts=False, dim=-1) | torch.unique_consecutive(b, return_inverse=False, return_counts=True)
torch.unique_consecutive(b, return_inverse=True) | torch.unique_consecutive(b, return_inverse=True, return_counts=True, dim=0)
F.multi_margin_loss(x[0], torch.tensor([1]), reduction="none") | F.multi_margin_loss(x[0], torch.tensor(1), reduction="none")
F.unfold(i[None, None] > 1, 2) | torch.tensordot(wave(1, 1, 1), wave(2, 2, 2), dims=([0, 1], [2, 0]))
torch.tensordot(wave(3, 1, 1), wave(2, 2, 2), dims=([0, 1], [2, 0])) | torch.tensordot(wave(2, 3), wave(3, 1), dims=([0], [1]))
torch.histc(torch.tensor([0.0, 5e-06, 1e-05, 1.2e-05]).double(), 1000, 0, 1e-5).nonzero() | torch.histogram(E, 2)
torch.histogram(torch.ones(3), 2) | torch.native_layer_norm(x.clone().requires_grad_(), (3,), None, None, 1e-5)[1].requires_grad
torch.unbind_copy(x, 0, out=[x.new_empty(3), x.new_empty(3)]) | torch.alias_copy(x) | torch.unbind_copy(x, 1)
torch.gradient(x[0], spacing=None) | torch.einsum("...ik, ...j -> ij", i[None].int(), i[0].int())
F.pixel_unshuffle(torch.empty(0, 1, 4, 4), 2).shape | F.pixel_unshuffle(torch.empty(2, 0, 4, 4), 2).shape
""",
        NAMES,
    )
)
check(items, __file__)
