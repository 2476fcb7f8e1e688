# run: --torch --capture=off
"""Functions of torch and torch.nn.functional with arguments that are easily forgotten: values and gradients as PyTorch's."""

import pathlib
import sys
import warnings

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")


def image(*sizes):
    return torch.arange(1.0, 1 + torch.Size(sizes).numel()).reshape(sizes).sin() * 3


w = image(5, 3)
index = torch.tensor([4, 1, 1, 0, 4, 4])
pixels = (image(1, 2, 4, 4) * 40 + 120).to(torch.uint8)
half = torch.tensor([[300.0, -400.0, 120.0], [60000.0, 60000.0, 60000.0]]).half()

CASES = """
F.embedding(index, w, scale_grad_by_freq=True) | F.embedding(index, w, padding_idx=-1)
F.embedding_bag(index, w, torch.tensor([0, 3]), padding_idx=-1, mode='sum') | F.embedding_bag(index, w, torch.tensor([0, 2, 2]), mode='mean')
F.embedding_bag(index, w, torch.tensor([0, 3]), scale_grad_by_freq=True, mode='sum') | F.embedding_bag(index.view(2, 3), w, mode='max')
F.interpolate(w[None, None], scale_factor=1.7, mode='bilinear', recompute_scale_factor=True)
F.interpolate(w[None, None], scale_factor=1.7, mode='nearest', recompute_scale_factor=True)
F.interpolate(w[None], size=5, mode='linear', align_corners=True) | F.interpolate(w[None, None], (3, 7), mode='bicubic')
F.interpolate(w[None, None].double(), (7, 2), mode='bilinear') | F.interpolate(w[None, None], (2, 3), mode='area')
F.interpolate(pixels, (3, 3), mode='bilinear', align_corners=True)
F.pad(w[None], (-1, 2), mode='circular') | F.pad(w[None], (-1, 1), mode='reflect') | F.pad(w[None, None], (-1, 1, 2, -3), mode='replicate')
F.pixel_unshuffle(image(1, 1, 4, 4), 2) | F.channel_shuffle(image(1, 4, 2), 2) | torch.cartesian_prod(w[0])
torch.diag(torch.arange(3)) | torch.diag_embed(torch.tensor([True, False])) | torch.hypot(torch.tensor([1e30, 3.0]), torch.tensor([1e30, 4.0]))
torch.xlogy(torch.tensor([0.0, 0.0, 2.0]), torch.tensor([2.0, 0.0, 0.5])) | torch.median(torch.tensor([2.0, 1.0, 2.0, 3.0, 2.0]))
torch.as_strided(w, (2, 3), (1, 2), 1) | torch.as_strided(w.t(), (2, 2), (2, 1)) | w.chunk(2)[1] | torch.empty(0, 3).chunk(2)
torch.max(torch.arange(4), torch.tensor(2)) | torch.min(w, torch.tensor(0.5)) | torch.linspace(4.3, 1, 8, dtype=torch.int64)
torch.add(torch.tensor([True, False]), torch.tensor([True, True]), alpha=False) | torch.baddbmm(torch.ones(1, 2, 2).long(), torch.ones(1, 2, 2).long(), torch.ones(1, 2, 2).long(), alpha=0.6)
torch.bincount(torch.tensor([0, 1, 1]), weights=torch.tensor([1, 2, 3])) | torch.all(torch.tensor([1, 0], dtype=torch.uint8))
torch.cumsum(torch.tensor([1, 2]), 0, dtype=torch.int32) | torch.dot(torch.tensor([1, 2], dtype=torch.int32), torch.tensor([3, 4], dtype=torch.int32))
torch.unique(torch.tensor([[1, 2], [0, 1], [1, 2]]), dim=0, return_inverse=True, return_counts=True) | torch.tensor_split(w, (1, 3))
torch.diff(torch.tensor([1.0, 4.0]), prepend=torch.tensor([0.0])) | torch.nonzero(torch.tensor([0, 2]), as_tuple=False)
torch.div(torch.tensor([139.0, 17.9]).half(), torch.tensor([1.0002, 0.9995]).half(), rounding_mode='trunc') | torch.logsumexp(torch.empty(0), 0)
half.mean() | half.mean(1) | half.var(1) | half[:1].std() | half.norm(dim=1) | F.normalize(half) | F.rms_norm(half, (3,)) | F.layer_norm(half[:1], (3,))
F.mse_loss(half[:1], -half[:1]) | F.huber_loss(half[:1], -half[:1]) | F.pairwise_distance(half[:1], -half[:1])
F.scaled_dot_product_attention(half[:1], half[:1], half[:1]) | F.scaled_dot_product_attention(w, w, w, attn_mask=torch.tensor([[True] * 5] * 4 + [[False] * 5]))
"""

items = []
for text in (part.strip() for line in CASES.strip().split("\n") for part in line.split("|")):
    w = w.detach().requires_grad_(True)
    w.grad = None
    result = eval(text)
    first = result if isinstance(result, torch.Tensor) else result[0]
    if first.requires_grad:
        (first * image(*first.shape)).sum().backward()
    items.append((text, (result, w.grad)))

for seed, make in enumerate((torch.randn, torch.rand)):
    for dtype in (torch.float16, torch.bfloat16):
        for size in (5, 16, 25):
            torch.manual_seed(seed)
            items.append((f"{make.__name__}({size}, {dtype})", (make(size, dtype=dtype).float(), torch.rand(1))))
torch.manual_seed(3)
items.append(("rrelu", F.rrelu(image(4, 4), training=True)))
items.append(("uniform_", torch.zeros(125).half().uniform_(1, 2).max() < 2))
check(items, __file__)
