"""Copies between devices, of which there is one."""

from ..._missing_parts import sentences
from .scatter_gather import WHY

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]

globals().update(sentences("torch.nn.parallel.comm", __all__, WHY))
