"""Quantized models: not there."""

from ..._missing_parts import sentences

__all__ = [
    "googlenet", "inception_v3", "mobilenet_v2", "mobilenet_v3_large", "resnet18", "resnet50", "resnext101_32x8d",
    "resnext101_64x4d", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "shufflenet_v2_x1_5", "shufflenet_v2_x2_0",
]  # fmt: skip
globals().update(sentences("torchvision.models.quantization", __all__))
