"""Models of videos: not there."""

from ..._missing_parts import sentences

__all__ = [
    "VideoResNet", "mc3_18", "mvit_v1_b", "mvit_v2_s", "r2plus1d_18", "r3d_18", "s3d", "swin3d_b", "swin3d_s",
    "swin3d_t",
]  # fmt: skip
globals().update(sentences("torchvision.models.video", __all__))
