"""Copies of a module, one per device: there is one device."""

from ..._missing_parts import sentence
from .scatter_gather import WHY

__all__ = ["replicate"]

replicate = sentence("torch.nn.parallel.replicate", WHY)
