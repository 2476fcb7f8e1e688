# run: --torch
# run: --torch --capture=off
"""What layers, losses, pools and optimizers refuse, in PyTorch's words."""

import pathlib
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn, optim

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

warnings.simplefilter("ignore")
p, q = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(3))
rows, scores, classes = torch.zeros(2, 10), torch.zeros(2, 3), torch.zeros(2, dtype=torch.long)
shares, state = torch.full((2, 3), 1 / 3), torch.zeros(3, 1, 1, 20)


def added(first, second):
    optimizer = optim.SGD([first], lr=0.1)
    optimizer.add_param_group({"params": [second]})


ITEMS = """
nn.BatchNorm1d(10, eps=0.0)(rows) | nn.BatchNorm1d(10, eps=0.0).eval()(rows + 1).shape | F.batch_norm(rows, None, None, training=True, eps=-1.0)
nn.CircularPad1d(3)(torch.zeros(2, 3, 4, 5)) | nn.CircularPad2d(3)(scores) | nn.CircularPad3d(3)(scores) | nn.CircularPad1d(1)(scores).shape
F.cross_entropy(scores, shares, ignore_index=1) | F.cross_entropy(scores, shares, ignore_index=-1).item() > 1
F.cross_entropy(scores, scores.long()) | F.cross_entropy(torch.zeros(3), torch.zeros(3, dtype=torch.bool))
F.cross_entropy(torch.zeros(2, 3, 4), torch.zeros(2, 3, 4, dtype=torch.long)) | F.cross_entropy(scores, torch.rand(2, 4))
F.cross_entropy(scores, torch.rand(2)) | F.cross_entropy(scores, shares, label_smoothing=2.0) | F.cross_entropy(scores, classes, label_smoothing=2.0)
F.cross_entropy(scores, classes, label_smoothing=-2.0).shape | F.cross_entropy(scores, classes, torch.ones(3).double())
F.cross_entropy(scores, classes, torch.ones(3).double(), label_smoothing=0.1) | F.cross_entropy(scores, torch.zeros(5, dtype=torch.long))
nn.HuberLoss(delta=1j) | nn.HuberLoss(delta="a") | nn.HuberLoss(delta=2).delta
nn.LSTMCell(10, 20)(torch.zeros(3, 10), (state, state)) | nn.LSTMCell(10, 20)(torch.zeros(3, 10), (torch.zeros(3, 20), state))
nn.GRUCell(10, 20)(torch.zeros(3, 10), state) | nn.RNNCell(10, 20)(torch.zeros(3, 10), state) | nn.LSTMCell(10, 20)(torch.zeros(3, 4, 10))
nn.Softmax(1.0) | nn.Softmax(True) | nn.LogSoftmax("a") | nn.LogSoftmax(None).dim | nn.Softmin("a").dim | nn.Softmax(-1).dim
F.max_pool2d(torch.zeros(1, 2, 3, 4, 5), 2) | F.max_pool2d(torch.zeros(4, 5), 2) | F.avg_pool2d(torch.zeros(1, 2, 3, 4, 5), 2)
F.max_pool2d(torch.zeros(4, 5), 2, return_indices=True) | F.max_pool2d(torch.zeros(2, 3, 0, 4), 2) | F.max_pool2d(torch.zeros(0, 3, 4, 4), 2).shape
nn.LinearCrossEntropyLoss(3, 2, weight=torch.ones(3)) | nn.LinearCrossEntropyLoss(3, 2, label_smoothing=2.0)
nn.LinearCrossEntropyLoss(3, 2)(torch.zeros(4, 3), torch.zeros(5, dtype=torch.long))
nn.LinearCrossEntropyLoss(3, 2)(torch.zeros(4, 3), torch.zeros(4, 2, dtype=torch.long))
torch.ones(2, dtype=torch.long).polygamma_(1) | torch.ones(2, dtype=torch.bool).polygamma_(1) | torch.narrow_copy(scores, 2, 0, 0)
optim.SGD({p}, lr=0.1).param_groups[0]["params"][0] is p | optim.SGD([{"params": {p}}], lr=0.1) | optim.SGD(p, lr=0.1)
optim.SGD([{"params": [p]}, {"params": [p]}], lr=0.1) | optim.Adam([("a", p), q]) | optim.Adam([("a", p), ("a", q)])
optim.Adam([{"params": [("a", p)]}, {"params": [q]}]) | added(("a", p), q) | added(p, ("b", q)) | added(p, p) | optim.SGD([], lr=0.1)
optim.Adam([p], betas=(0, 0.9)) | optim.AdamW([p], betas=(torch.tensor(0.9), 0.9)) | optim.NAdam([p], betas=(0, 0.9)).defaults["betas"]
optim.Adam([p], lr=torch.tensor(0.1), foreach=True) | optim.Adam([p], fused=True, foreach=True) | optim.SGD([p], lr=0.1, fused=True, foreach=True)
optim.Adam([p], fused=True, differentiable=True) | optim.Adagrad([p], fused=True, foreach=True) | optim.Adam([p], betas=(1.0, 0.9))
optim.SGD([1], lr=0.1) | optim.SGD([p * 2], lr=0.1) | optim.SparseAdam([nn.Parameter(torch.zeros(2, dtype=torch.complex64))])
"""

check(outcomes(ITEMS, globals()), __file__)
