"""The name of torchvision's module of VisionDataset."""

from .vision_dataset import StandardTransform, VisionDataset

__all__ = ["StandardTransform", "VisionDataset"]
