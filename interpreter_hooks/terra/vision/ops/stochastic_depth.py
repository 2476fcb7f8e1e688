"""Stochastic depth: whole branches of residual networks left out at random."""

import _terra_C as C

from ... import nn

__all__ = ["StochasticDepth", "stochastic_depth"]
__fx_leaves__ = ("stochastic_depth",)  # torch.fx does not look into it


def stochastic_depth(input, p, mode, training=True):
    """Zero with probability p, else divided by 1 - p: the whole batch, or each row by itself."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"drop probability has to be between 0 and 1, but got {p}")
    if mode not in ("batch", "row"):
        raise ValueError(f"mode has to be either 'batch' or 'row', but got {mode}")
    if not training or p == 0.0:
        return input
    kept = 1.0 - p
    size = ([input.shape[0]] if mode == "row" else [1]) + [1] * (input.ndim - 1)
    noise = C.empty(size, dtype=input.dtype, device=input.device).bernoulli_(kept)
    if kept > 0.0:
        noise.div_(kept)
    return input * noise


class StochasticDepth(nn.Module):
    def __init__(self, p, mode):
        super().__init__()
        self.p = p
        self.mode = mode

    def forward(self, input):
        return stochastic_depth(input, self.p, self.mode, self.training)

    def __repr__(self):
        return f"{type(self).__name__}(p={self.p}, mode={self.mode})"
