"""Transforms of single images."""

from .transforms import Compose, ConvertImageDtype, Lambda, Normalize, RandomCrop, RandomHorizontalFlip, ToTensor

__all__ = ["Compose", "ConvertImageDtype", "Lambda", "Normalize", "RandomCrop", "RandomHorizontalFlip", "ToTensor"]
