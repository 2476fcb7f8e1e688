"""Helpers that are not tensors: data loading, hooks."""

from . import hooks

__all__ = ["hooks", "data"]


def __getattr__(name):
    if name == "data":
        import importlib

        return importlib.import_module(".data", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
