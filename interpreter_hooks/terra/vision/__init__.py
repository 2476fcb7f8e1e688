"""torchvision's names: data sets, transforms, models, operations on boxes, grids of images.

Under `terra-run --torch` the name `torchvision` is this package, unless a torchvision is there that can work. Nothing
is downloaded; reading, writing and drawing images needs Pillow."""

import importlib

__version__ = "0.29.2+terra"
__all__ = ["datasets", "get_image_backend", "io", "models", "ops", "set_image_backend", "transforms", "utils"]

_MODULES = ("datasets", "io", "models", "ops", "transforms", "utils", "version")


def set_image_backend(backend):
    """How files become images: "PIL" is what there is."""
    if backend not in ("PIL", "accimage"):
        raise ValueError(f"Invalid backend '{backend}'. Options are 'PIL' and 'accimage'")
    if backend == "accimage":
        raise ModuleNotFoundError("accimage is not available in Terra: images are read by Pillow")


def get_image_backend():
    return "PIL"


def disable_beta_transforms_warning():
    """There is no such warning."""


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"torchvision.{name} is not in Terra", name=name)
