"""Transforms of images, which are Pillow's or tensors [..., channels, height, width].

Random numbers are drawn in torchvision's order: equal seeds give equal images."""

from . import functional
from .autoaugment import *  # noqa: F403
from .autoaugment import __all__ as _policies
from .transforms import *  # noqa: F403
from .transforms import __all__ as _transforms

__all__ = ["functional", *_policies, *_transforms]


def __getattr__(name):
    if name == "v2":
        import importlib

        return importlib.import_module(".v2", __name__)
    raise AttributeError(f"torchvision.transforms.{name} is not in Terra", name=name)
