"""Digits drawn by a program: 28 x 28, ten classes, in the file format and layout of MNIST."""

from .files import digits_folder

__all__ = ["digits_folder"]
