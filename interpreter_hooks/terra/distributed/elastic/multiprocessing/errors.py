"""Errors of workers: they are raised, as they are."""

__all__ = ["record"]


def record(fn, error_handler=None):
    """A mark for the main function of a worker, whose error a launcher would be told."""
    return fn
