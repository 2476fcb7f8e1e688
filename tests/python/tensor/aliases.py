# run: --torch --capture=off
"""Which results share memory with their operand, by writing to them: as PyTorch's, for the arguments that change nothing,
too."""

import copy
import pathlib
import pickle
import sys
import warnings

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")

CASES = """
a.repeat(1, 1) | a.repeat(2, 1) | a[:1].repeat(2, 1) | torch.tile(a, (1, 1)) | torch.tile(a, ()) | a.repeat_interleave(1, 0)
torch.repeat_interleave(a, 2) | a[:, :1].repeat_interleave(2, 1) | torch.repeat_interleave(a, torch.tensor([1, 1]), 0)
torch.cat([a]) | torch.cat([a, torch.empty(0)]) | torch.cat([a[:0], a]) | torch.stack([a]) | torch.hstack([a]) | torch.vstack([a])
torch.flip(a, []) | torch.flip(a, [0]) | torch.roll(a, 0, 0) | torch.roll(a, 3, 1) | torch.roll(a, 6) | torch.roll(a, (0, 0), (0, 1))
torch.rot90(a, 0, [0, 1]) | torch.rot90(a, 1, [0, 1]) | torch.rot90(a, 4, [0, 1])
F.pad(a, (0, 0)) | F.pad(a, (0, 0), mode='replicate') | F.pad(a[None], (0, 0), mode='reflect') | F.pad(a[None], (0, 0), mode='circular')
F.pixel_shuffle(a[None, :1], 1) | F.pixel_unshuffle(a[None, :1], 1) | F.channel_shuffle(a[None], 1)
a.index_select(0, torch.arange(2)) | a[[0, 1]] | a[torch.tensor(0)] | a[a > 0] | a[True] | a[...] | a[None] | a[:] | a[0]
torch.take_along_dim(a, torch.zeros(2, 1, dtype=torch.long), 1) | a.gather(1, torch.zeros(2, 1, dtype=torch.long))
a.clone() | a.contiguous() | a.t().contiguous() | a.float() | a.to(torch.float32) | a.to(torch.float32, copy=True) | a.type(torch.float32)
a.type_as(a) | a.double() | a.cpu() | a.detach() | a.data | torch.as_tensor(a) | torch.asarray(a) | torch.tensor(a) | a.new_tensor(a)
a + 0 | a * 1 | +a | a ** 1 | a / 1 | a - 0 | a.abs() | -(-a) | a.round() | a.clamp(min=-9) | torch.max(a, a) | torch.maximum(a, a)
a[:1].sum(0) | a[:1].mean(0) | a[:1].max(0)[0] | a[:1].amax(0) | a[:1].cumsum(0) | a[:1].prod(0) | a[:1].sort(0)[0] | a[:1].topk(1, 0)[0]
a.sum_to_size(2, 3) | a.sum_to_size(1, 3) | a[0, 0].sum_to_size(()) | a[:1].median(0)[0] | a[0, 0].median() | a.kthvalue(1, 0)[0]
torch.where(torch.tensor(True), a, a) | torch.lerp(a, a, 0.0) | torch.nan_to_num(a) | a.masked_fill(a < 0, 1) | a.tril(9) | a.triu(-9)
F.dropout(a, 0.5, False) | F.dropout(a, 0.0, True) | torch.nn.Dropout().eval()(a) | torch.nn.Identity()(a) | F.relu(a) | F.hardtanh(a, -99, 99)
F.interpolate(a[None, None], size=a.shape) | F.interpolate(a[None, None], scale_factor=1) | F.avg_pool2d(a[None], 1) | F.max_pool2d(a[None], 1)
F.adaptive_avg_pool2d(a[None], a.shape) | F.layer_norm(a, (3,)) | F.normalize(a) | a @ torch.eye(3) | F.embedding(torch.tensor([0]), a)
a.flatten() | a[0].flatten() | a.t().flatten() | a.reshape(-1) | a.t().reshape(-1) | a.ravel() | a.t().ravel() | a[:, ::2].ravel()
a[:, 0].ravel() | a.squeeze() | a[:1].expand(1, 3).contiguous() | a[:1].expand(2, 3) | a[:1].expand(2, 3).contiguous()
torch.einsum('ij->ij', a) | torch.einsum('ij->ji', a) | torch.broadcast_tensors(a, a)[0] | torch.meshgrid(a[0], a[1], indexing='ij')[0]
torch.diag(a) | torch.diag(a[0]) | torch.diagonal(a) | torch.diag_embed(a) | torch.diff(a, 0) | torch.cartesian_prod(a[0])
torch.tensor_split(a, 2)[0] | torch.tensor_split(a, (1,))[0] | a.chunk(1)[0] | torch.split(a, 2)[0] | a.unbind()[0] | a.unfold(1, 2, 1)
torch.atleast_1d(a) | torch.atleast_2d(a[0]) | a.swapaxes(0, 1) | a.movedim(0, 1) | a.T | a.mT | a.unflatten(1, (3, 1)) | a.view_as(a)
torch.unique(a) | torch.masked_select(a, a > 0) | torch.block_diag(a) | torch.outer(a[0], torch.ones(1)) | torch.zeros_like(a)
torch.from_numpy(a.numpy()) | torch.tensor(a.numpy()) | copy.deepcopy(a) | pickle.loads(pickle.dumps(a)) | torch.autograd.Variable(a)
torch.nn.utils.parameters_to_vector([a]) | a.scatter(0, torch.zeros(0, 0, dtype=torch.long), 1.0)
"""

items = []
for text in (part.strip() for line in CASES.strip().split("\n") for part in line.split("|")):
    a = torch.arange(1.0, 7.0).reshape(2, 3)
    result = eval(text)
    before = a.clone()
    with torch.no_grad():
        first = result[(0,) * result.dim()]
        first.fill_(77 if result.dtype != torch.bool else True)
    items.append((text, f"{'shared' if not torch.equal(a, before) else 'its own'} {list(result.shape)} {list(result.stride())}"))
check(items, __file__)
