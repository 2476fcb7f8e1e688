"""What programs need of torchvision where it is not installed: MNIST from files and a few transforms."""

from . import datasets, transforms

__all__ = ["datasets", "transforms"]
