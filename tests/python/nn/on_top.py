# run: --torch
"""Functions of layers under torch's own name, whose forms differ from nn.functional's: values as PyTorch's."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

x = torch.arange(24.0).reshape(2, 3, 4).sin()
y = x[0]
signs, ones, zeros = torch.tensor([1.0, -1.0, 1.0]), torch.ones(3), torch.zeros(3)
frames = x.permute(2, 0, 1).log_softmax(-1)
labels = torch.tensor([[1], [2]])

CASES = """
torch.layer_norm(x, (4,), torch.ones(4), torch.zeros(4), 1e-3, False) | torch.group_norm(x, 3, ones, None, 1e-5, True)
torch.batch_norm(x, ones * 2, zeros, zeros, ones, True, 0.1, 1e-5, False) | torch.batch_norm(x, None, None, zeros + 1, ones * 2, False, 0.1, 1e-5, False)
torch.instance_norm(x, ones, zeros + 1, None, None, True, 0.1, 1e-5, False) | torch.rms_norm(y, (4,))
torch.ctc_loss(frames, labels, (4, 4), (1, 1)) | torch.ctc_loss(frames, labels, (4, 4), (1, 1), 0, 0) | torch.ctc_loss(frames, labels, (4, 4), (1, 1), 0, 2, True)
torch.cosine_embedding_loss(y, y + 1, signs, 0.0, 2) | torch.hinge_embedding_loss(y, y.sign(), 1.0, 0) | torch.margin_ranking_loss(y, -y, y.sign(), 0.1, 0)
torch.triplet_margin_loss(y, y + 1, y * 2, 1.0, 2, 1e-6, True, 0) | torch.poisson_nll_loss(y, y.abs(), True, False, 1e-8, 1)
torch.kl_div(y, y.abs()) | torch.kl_div(y, y.abs(), 1) | torch.hinge_embedding_loss(y, y.sign()) | torch.kl_div(y, y.abs(), 2, log_target=True) | torch.binary_cross_entropy_with_logits(y, y.sigmoid(), None, None, 1)
torch.alpha_dropout(y, 0.5, False) | torch.feature_dropout(x, 0.5, True) | torch.feature_alpha_dropout(x, 0.5, True) | torch.dropout(y, 0.5, False)
torch.grid_sampler(x[None], torch.full((1, 1, 1, 2), 0.3), 0, 2, False) | torch.affine_grid_generator(torch.eye(3)[None, :2], [1, 1, 2, 2], False)
torch.adaptive_max_pool1d(x, 2) | torch.adaptive_avg_pool1d(x, 2) | torch.avg_pool1d(x, 2) | torch.max_pool1d(x, 2) | torch.max_pool1d_with_indices(x, 2)
torch.bilinear(y, y, torch.ones(2, 4, 4)) | torch.celu(y) | torch.celu_(y.clone()) | torch.rrelu(y) | torch.threshold(y, 0.1, 5.0) | torch.threshold_(y.clone(), 0.1, 5.0)
torch.hardshrink(y) | torch.pdist(y) | torch.pairwise_distance(y, y + 1) | torch.conv_tbc(x, torch.ones(1, 4, 2), torch.zeros(2), 0)
torch.conv3d(x[None, None], torch.ones(1, 1, 1, 2, 2)) | torch.conv_transpose3d(x[None, None], torch.ones(1, 1, 1, 2, 2)) | torch.max_pool3d(x[None], 2)
"""


def walk():
    for text in (part.strip() for line in CASES.strip().split("\n") for part in line.split(" | ")):
        torch.manual_seed(3)
        yield text, eval(text)


check(list(walk()), __file__)
