"""How tensors travel between processes; registered when terra.multiprocessing is imported."""

from multiprocessing.reduction import ForkingPickler  # noqa: F401

from ._shared import register as init_reductions  # noqa: F401
