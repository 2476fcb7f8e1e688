"""DropBlock: dropout of whole squares of feature maps."""

import _terra_C as C

from ... import nn
from ...nn import functional as F

__all__ = ["DropBlock2d", "DropBlock3d", "drop_block2d", "drop_block3d"]


def _drop_block(input, p, block_size, inplace, eps, training, dimensions):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}.")
    if input.ndim != dimensions + 2:
        raise ValueError(f"input should be {dimensions + 2} dimensional. Got {input.ndim} dimensions.")
    if not training or p == 0.0:
        return input
    sizes = input.shape[2:]
    if block_size % 2 == 0:
        raise ValueError(f"block size should be odd. Got {block_size} which is even.")
    block = min(block_size, *sizes)
    gamma = p / block**dimensions
    for size in sizes:
        gamma *= size / (size - block + 1)
    centres = C.empty([*input.shape[:2], *(size - block + 1 for size in sizes)], dtype=input.dtype, device=input.device)
    centres.bernoulli_(gamma)
    dropped = F.pad(centres, [block // 2] * (2 * dimensions), value=0)
    pool = F.max_pool2d if dimensions == 2 else F.max_pool3d
    kept = 1 - pool(dropped, kernel_size=block, stride=1, padding=block // 2)
    scale = kept.numel() / (eps + kept.sum())
    return input.mul_(kept).mul_(scale) if inplace else input * kept * scale


def drop_block2d(input, p, block_size, inplace=False, eps=1e-06, training=True):
    """Squares of zeros in [batch, channels, height, width]; the rest is scaled up."""
    return _drop_block(input, p, block_size, inplace, eps, training, 2)


def drop_block3d(input, p, block_size, inplace=False, eps=1e-06, training=True):
    """Cubes of zeros in [batch, channels, depth, height, width]; the rest is scaled up."""
    return _drop_block(input, p, block_size, inplace, eps, training, 3)


class DropBlock2d(nn.Module):
    def __init__(self, p, block_size, inplace=False, eps=1e-06):
        super().__init__()
        self.p = p
        self.block_size = block_size
        self.inplace = inplace
        self.eps = eps

    def forward(self, input):
        return drop_block2d(input, self.p, self.block_size, self.inplace, self.eps, self.training)

    def __repr__(self):
        return f"{type(self).__name__}(p={self.p}, block_size={self.block_size}, inplace={self.inplace})"


class DropBlock3d(DropBlock2d):
    def forward(self, input):
        return drop_block3d(input, self.p, self.block_size, self.inplace, self.eps, self.training)
