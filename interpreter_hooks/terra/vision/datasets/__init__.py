"""Datasets read from files that are there already: nothing is downloaded."""

from .mnist import MNIST, FashionMNIST
from .vision_dataset import VisionDataset

__all__ = ["FashionMNIST", "MNIST", "VisionDataset"]
