# run: --torch
"""Layers over three dimensions, and pools of every kind: printed form, state, initial values, outputs and gradients as
PyTorch's."""

import pathlib
import sys
import warnings

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402
from _walk import walk  # noqa: E402

warnings.simplefilter("ignore")

VOLUME = [(1, 2, 4, 4, 3)]
CASES = [
    (nn.Conv3d, (2, 4, 2), {"padding": 1, "groups": 2}, [(1, 2, 2, 3, 3)]),
    (nn.Conv3d, (2, 3, (1, 2, 3)), {"stride": (1, 2, 1), "dilation": (1, 2, 1), "bias": False}, [(2, 3, 5, 4)]),
    (nn.Conv3d, (1, 2, 2), {"padding": "same"}, [(1, 1, 3, 3, 2)]),
    *[(nn.Conv3d, (1, 1, 3), {"padding": 1, "padding_mode": mode}, [(1, 1, 3, 3, 3)]) for mode in ("reflect", "replicate", "circular")],
    (nn.ConvTranspose3d, (2, 2, 2), {"stride": 2, "padding": (0, 1, 0), "output_padding": (1, 0, 1)}, [(1, 2, 2, 2, 2)]),
    (nn.ConvTranspose3d, (2, 4, 2), {"groups": 2, "dilation": (2, 1, 2), "output_padding": (1, 0, 1), "bias": False}, [(2, 2, 2, 2)]),
    (nn.MaxPool3d, (2,), {}, VOLUME), (nn.MaxPool3d, ((2, 3, 2), 2, 1), {"ceil_mode": True}, [(2, 4, 5, 4)]),
    (nn.MaxPool3d, (2, 1), {"dilation": (1, 2, 1), "return_indices": True}, VOLUME),
    (nn.AvgPool3d, (2,), {}, VOLUME), (nn.AvgPool3d, (3, 2, 1), {"count_include_pad": False, "ceil_mode": True}, [(2, 4, 5, 4)]),
    (nn.AvgPool3d, (2,), {"divisor_override": 3}, VOLUME), (nn.AvgPool2d, ((2, 3), 2, 1), {"divisor_override": 5}, [(1, 2, 5, 6)]),
    (nn.AdaptiveAvgPool3d, ((2, None, 1),), {}, VOLUME), (nn.AdaptiveAvgPool3d, (3,), {}, [(2, 4, 5, 4)]),
    (nn.AdaptiveMaxPool1d, (3,), {"return_indices": True}, [(2, 7)]), (nn.AdaptiveMaxPool2d, ((3, 4),), {"return_indices": True}, [(1, 2, 5, 6)]),
    (nn.AdaptiveMaxPool3d, ((2, None, 1),), {"return_indices": True}, VOLUME), (nn.AdaptiveMaxPool3d, (3,), {}, [(2, 4, 5, 4)]),
    (nn.LPPool1d, (2, 3), {"stride": 2}, [(2, 3, 7)]), (nn.LPPool2d, (2, 2), {"ceil_mode": True}, [(1, 2, 5, 5)]), (nn.LPPool3d, (3, 2), {}, VOLUME),
    (nn.FractionalMaxPool2d, (2, 3), {"return_indices": True}, [(2, 2, 5, 7)]), (nn.FractionalMaxPool2d, ((2, 1),), {"output_ratio": 0.5}, [(2, 6, 7)]),
    (nn.FractionalMaxPool3d, (2, (2, 1, 3)), {"return_indices": True}, [(1, 2, 4, 5, 6)]),
    (nn.BatchNorm3d, (2,), {}, VOLUME), (nn.InstanceNorm3d, (2,), {"affine": True, "track_running_stats": True}, VOLUME),
    (nn.Dropout3d, (0.4,), {}, [(2, 5, 1, 2, 1)]),
    (nn.ReflectionPad3d, (1,), {}, VOLUME), (nn.ReplicationPad3d, ((1, 2, 0, 1, 2, 0),), {}, [(2, 2, 2, 2)]),
    (nn.CircularPad3d, (1,), {}, [(1, 1, 2, 2, 2)]), (nn.ConstantPad3d, ((0, 1, 1, 0, 0, 1), 2.5), {}, [(1, 2, 2, 2)]), (nn.ZeroPad3d, (1,), {}, [(1, 1, 2, 2)]),
    (nn.Unfold, (2,), {"dilation": (1, 2), "padding": 1, "stride": (2, 1)}, [(1, 2, 4, 5)]), (nn.Unfold, ((2, 3),), {}, [(2, 3, 4)]),
    (nn.Fold, ((4, 5), 2), {"dilation": (1, 2), "padding": 1, "stride": (2, 1)}, [(1, 8, 15)]), (nn.Fold, (3, 2), {}, [(4, 4)]),
]  # fmt: skip


def unpooled():
    """What MaxPool found, put back."""
    for dims, pool, back in ((1, nn.MaxPool1d, nn.MaxUnpool1d), (2, nn.MaxPool2d, nn.MaxUnpool2d), (3, nn.MaxPool3d, nn.MaxUnpool3d)):
        torch.manual_seed(1)
        x = torch.randn(2, *[5] * dims, requires_grad=True)
        for arguments in ((2,), (3, 2, 1)):
            layer = back(*arguments)
            y, indices = pool(*arguments, return_indices=True)(x)
            yield repr(layer), layer(y, indices) if len(arguments) == 3 else None
            result = layer(y, indices, output_size=x.shape[1:])
            (grad,) = torch.autograd.grad((result * result).sum(), x)
            yield "  to size", [result, grad]


check([*walk(CASES), *unpooled()], __file__)
