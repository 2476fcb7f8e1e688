"""Padding with constants, reflections, edges or the other side."""

import _terra_C as C

__all__ = ["pad"]

pad = C._functional.pad
