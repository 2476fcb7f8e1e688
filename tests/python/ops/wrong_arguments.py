# run: --torch
# run: --torch --capture=stress
"""Arguments of the wrong kind, too many, too few or with names that nobody knows: the error of PyTorch, also of functions
that are written in Python here; and what looks wrong and isn't."""

import pathlib
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import _oracle  # noqa: E402

warnings.simplefilter("ignore")
f, wide, many = torch.ones(2, 3), torch.ones(1, 2, 1, 3), torch.tensor([1, 2], dtype=torch.uint8)



def drawn(layer, *sizes):
    torch.manual_seed(0)
    return layer(torch.ones(sizes))


EXPRESSIONS = """
torch.adaptive_avg_pool1d(object, f) | torch.avg_pool1d(f, f) | torch.pdist([f], 2) | torch.fft.fft(f, 'abc')
torch.fft.fft(torch.tensor(1.0), n=3) | torch.fft.rfft2(f, object) | torch.is_complex([f]) | torch.numel(np.float32(1))
torch.combinations((1, 0)) | torch.equal([f], f) | torch.nan_to_num([1]) | torch.pairwise_distance(f, torch.ones(5, 4)) | torch.embedding_renorm_(f, 1)
torch.norm_except_dim([f]) | torch.kl_div(f, f, f) | torch.detach_(3) | torch.istft(f, False) | torch.bilinear(f, False, f) | torch.group_norm(f, f)
torch.hinge_embedding_loss(3, f) | torch.cosine_embedding_loss(f, [0, 1], f) | torch.poisson_nll_loss(f, f)
F.adaptive_avg_pool1d([f], 1) | F.pdist('abc') | F.kl_div(f, torch.ones(5), reduction='batchmean') | F.layer_norm(f, (2,)) | F.hinge_embedding_loss(f, torch.ones(5))
F.cosine_embedding_loss(f, f, torch.ones(5)) | F.one_hot(f, 'a') | F.triplet_margin_loss(f, torch.ones(4), f)
torch.zeros() | torch.empty() | f.new_zeros() | f.new_empty() | f.repeat() | f.expand() | f.permute() | f.flip() | f.reshape() | f.tile()
f[0, 0].permute() | torch.ones(size=()) | torch.dropout(f, True, True).sum() | f.clone().copy_(1.5) | f.clone().copy_(True) | f.logit(True)
f.float(1) | f.float(memory_format=torch.preserve_format) | f.half(k=1) | f.cpu(1) | f.cpu(memory_format=torch.preserve_format) | f.long(1, 2)
f.add_(1, out=f) | f.add(1, out=f) | torch.flip(f, 0) | torch.flip(f, (0,)) | torch.flip(f, 0, 1) | f.flip(0, 1) | torch.permute(f, 1, 0) | f.permute(1, 0)
torch.tile(f, 2) | torch.tile(f, (2,)) | torch.roll(f, 1, 0) | torch.flip(f, dims=[0]) | torch.broadcast_to(f, 2) | torch.reshape(f, 6) | torch.reshape(f, (-1,))
torch.tensordot(f, f, dims=2) | torch.rot90(f, dims=[0, 1]) | f.adjoint() | torch.tensor(1.0).adjoint() | torch.repeat_interleave(many)
torch.slice_copy(f, 1, 0, 2) | torch.slice_copy(f, 2) | torch.slice_copy(wide, -1, step=2) | f.unflatten(1, (3, 1)) | f.movedim(0, 1) | f.size(1, 2) | f.stride(0, 1)
f.requires_grad_(True, k=1) | torch.numel(3) | torch.kron(f, f) | torch.unsqueeze(f, axis=0) | f.sum(axis=1, keepdims=True)
wide.squeeze(0, 2).shape | wide.squeeze((0, 2)).shape | wide.squeeze().shape | wide.squeeze(2).shape | wide.squeeze(dim=2).shape | torch.squeeze(wide, 2).shape
torch.squeeze(wide, dim=-2).shape | wide.clone().squeeze_(0).shape | wide.clone().squeeze_().shape | wide.squeeze(0, 0) | wide.squeeze(5)
drawn(torch.nn.Dropout1d(torch.tensor(0.5)), 2, 3, 2) | drawn(torch.nn.Dropout2d(torch.tensor(0.5)), 2, 3, 2, 2) | drawn(torch.nn.Dropout3d(0.5), 4, 3, 2)
drawn(torch.nn.FeatureAlphaDropout(torch.tensor(0.5)), 4, 3, 2) | drawn(torch.nn.AlphaDropout(torch.tensor(0.5)), 4, 3) | drawn(torch.nn.Dropout3d(), 2, 3)
F.multilabel_soft_margin_loss(torch.tensor([0.5, -1.5, 2.0]), torch.tensor([[0, 1, 2], [2, 1, 0]]))
"""
items = []
for _ in range(3):
    items = list(_oracle.outcomes(EXPRESSIONS, globals()))
f.requires_grad_(False)
# Of several forms only the kind of the error is compared: the forms are told in another order.
FORMS = ("torch.atleast_1d(5)", "torch.hann_window(f, 'a')", "torch.isin(f, 'x')", "torch.rand()", "f.view()", "f.softmax(dims=0)", "f.sum(dims=0)")
for text in FORMS:
    items += [(text, said.split()[0]) for _, said in _oracle.outcomes(text, globals())]
_oracle.check(items, __file__)
print(f"{len(items)} passed")
