"""torch.functional: functions of the top level under the name of the module that PyTorch has them in."""

import sys

from ._names import PACKAGE, missing

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_shapes", "broadcast_tensors", "cartesian_prod", "block_diag",
    "cdist", "chain_matmul", "einsum", "istft", "lu", "norm", "meshgrid", "pca_lowrank", "split", "stft", "svd_lowrank",
    "tensordot", "unique", "unique_consecutive", "unravel_index",
]  # fmt: skip


def __getattr__(name):
    if name not in __all__:
        raise missing(sys.modules[__name__], name, __all__)
    return getattr(sys.modules[PACKAGE], name)


def __dir__():
    return __all__
