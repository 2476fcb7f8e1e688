"""The version of the Python package."""

__version__ = "0.1.0"
cuda = hip = xpu = None
debug = False
