"""torchvision.version."""

from . import __version__

git_version = "Unknown"
cuda = None
__all__ = ["__version__", "cuda", "git_version"]
