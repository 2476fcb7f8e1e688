"""Helpers that are not tensors: data loading, checkpoints, hooks."""

from . import hooks

__all__ = ["checkpoint", "data", "hooks"]


def __getattr__(name):
    if name in ("checkpoint", "data"):
        import importlib

        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
