"""Models of optical flow: not there."""

from ..._missing_parts import sentences

__all__ = [
    "RAFT", "raft_large", "raft_small",
]  # fmt: skip
globals().update(sentences("torchvision.models.optical_flow", __all__))
