# run: --torch
"""Every layer: printed form, names of its state, initial values, outputs, gradients and buffers, as PyTorch's."""

import pathlib
import sys
import warnings

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402
from _walk import walk  # noqa: E402

warnings.simplefilter("ignore")

ONE = [(3, 4)]
CASES = [
    (nn.Linear, (4, 3), {}, [(2, 4)]), (nn.Linear, (4, 3), {"bias": False}, [(2, 5, 4)]),
    (nn.Bilinear, (3, 4, 2), {}, [(5, 3), (5, 4)]), (nn.Identity, (), {}, ONE),
    (nn.Flatten, (), {}, [(2, 3, 2)]), (nn.Unflatten, (1, (2, 3)), {}, [(2, 6)]),
    (nn.Conv1d, (2, 4, 3), {"padding": 1}, [(2, 2, 8)]), (nn.Conv1d, (2, 4, 3), {"padding": "same", "dilation": 2}, [(1, 2, 8)]),
    (nn.Conv2d, (2, 4, 3), {"stride": 2, "padding": 1, "groups": 2, "bias": False}, [(2, 2, 6, 6)]),
    (nn.Conv2d, (2, 2, 4), {"padding": "same"}, [(1, 2, 5, 5)]),
    (nn.Conv2d, (2, 3, 3), {"padding": 1, "padding_mode": "circular"}, [(1, 2, 5, 5)]),
    (nn.Conv2d, (1, 2, (3, 5)), {"padding": (1, 2), "padding_mode": "reflect"}, [(1, 1, 6, 6)]),
    (nn.ConvTranspose1d, (2, 3, 4), {"stride": 2, "output_padding": 1}, [(1, 2, 4)]),
    (nn.ConvTranspose2d, (4, 2, 3), {"stride": 2, "padding": 1, "groups": 2, "bias": False}, [(1, 4, 3, 3)]),
    (nn.MaxPool1d, (2,), {}, [(2, 3, 9)]), (nn.AvgPool1d, (2,), {}, [(2, 3, 9)]), (nn.AdaptiveAvgPool1d, (2,), {}, [(2, 3, 8)]),
    (nn.MaxPool2d, (3,), {}, [(2, 2, 7, 8)]), (nn.MaxPool2d, (3, 2, 1), {"ceil_mode": True}, [(1, 2, 7, 8)]),
    (nn.AvgPool2d, (3,), {}, [(2, 2, 7, 8)]), (nn.AvgPool2d, (3, 2, 1), {"count_include_pad": False}, [(1, 2, 7, 8)]),
    (nn.AdaptiveAvgPool2d, ((None, 2),), {}, [(1, 2, 5, 6)]), (nn.AdaptiveMaxPool2d, (2,), {}, [(1, 2, 5, 6)]),
    *[(nn.BatchNorm1d, (4,), kw, [(5, 4)]) for kw in ({}, {"momentum": None}, {"affine": False}, {"track_running_stats": False})],
    (nn.BatchNorm1d, (4,), {}, [(3, 4, 2)]), (nn.BatchNorm2d, (3,), {}, [(2, 3, 2, 2)]),
    (nn.InstanceNorm1d, (4,), {"affine": True}, [(2, 4, 5)]), (nn.InstanceNorm2d, (3,), {"track_running_stats": True}, [(2, 3, 2, 3)]),
    (nn.LayerNorm, (4,), {}, [(3, 4)]), (nn.LayerNorm, ((3, 4),), {"elementwise_affine": False}, [(2, 3, 4)]),
    (nn.RMSNorm, (4,), {}, [(3, 4)]), (nn.GroupNorm, (2, 4), {}, [(2, 4, 3)]), (nn.LocalResponseNorm, (3,), {}, [(1, 5, 2, 2)]),
    (nn.Dropout, (0.3,), {}, [(4, 6)]), (nn.Dropout2d, (0.5,), {}, [(2, 5, 2, 2)]), (nn.AlphaDropout, (0.3,), {}, [(4, 6)]),
    *[(kind, (), {}, ONE) for kind in (
        nn.CELU, nn.ELU, nn.GELU, nn.Hardshrink, nn.Hardsigmoid, nn.Hardswish, nn.Hardtanh, nn.LeakyReLU, nn.LogSigmoid,
        nn.Mish, nn.PReLU, nn.ReLU, nn.ReLU6, nn.SELU, nn.SiLU, nn.Sigmoid, nn.Softplus, nn.Softshrink, nn.Softsign,
        nn.Tanh, nn.Tanhshrink, nn.GLU)],
    *[(kind, (), {"inplace": True}, ONE) for kind in (nn.ReLU, nn.LeakyReLU, nn.ELU, nn.SiLU, nn.Hardtanh)],
    (nn.GELU, (), {"approximate": "tanh"}, ONE), (nn.Softmax, (1,), {}, ONE), (nn.LogSoftmax, (0,), {}, ONE),
    (nn.Threshold, (0.1, 2.0), {}, ONE), (nn.PReLU, (4,), {}, ONE),
    (nn.CosineSimilarity, (), {}, ONE * 2), (nn.PairwiseDistance, (), {}, ONE * 2),
    (nn.ReflectionPad1d, (2,), {}, [(1, 2, 5)]), (nn.ReplicationPad2d, ((1, 2, 0, 2),), {}, [(1, 2, 3, 3)]),
    (nn.ZeroPad2d, (1,), {}, [(1, 2, 3, 3)]), (nn.ConstantPad1d, (2, 1.5), {}, [(1, 2, 5)]),
    (nn.PixelShuffle, (2,), {}, [(1, 8, 2, 2)]), (nn.PixelUnshuffle, (2,), {}, [(1, 1, 4, 4)]),
    (nn.Upsample, (), {"scale_factor": 2}, [(1, 2, 3, 3)]), (nn.Upsample, ((5, 4),), {"mode": "bilinear"}, [(1, 2, 3, 3)]),
    *[(kind, (), {"reduction": r}, ONE * 2) for r in ("mean", "sum", "none") for kind in (
        nn.L1Loss, nn.MSELoss, nn.SmoothL1Loss, nn.HuberLoss, nn.BCEWithLogitsLoss, nn.PoissonNLLLoss)],
    (nn.KLDivLoss, (), {"reduction": "batchmean"}, ONE * 2), (nn.TripletMarginLoss, (), {"swap": True}, ONE * 3),
]  # fmt: skip


check(list(walk(CASES)), __file__)
