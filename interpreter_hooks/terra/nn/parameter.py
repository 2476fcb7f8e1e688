"""Parameters: tensors that a module counts as its own when they are assigned to it."""

from _terra_C import Parameter

__all__ = ["Parameter"]
