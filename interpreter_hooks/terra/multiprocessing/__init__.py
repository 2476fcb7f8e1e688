"""Python's multiprocessing, with tensors.

share_memory_() moves a tensor into memory that children see too, by fork or by spawn, as arguments or through a queue:
what one process writes the others read. A tensor that is not in such memory is sent as a copy (under PyTorch sending
moves it there), and so is one that is pickled in another way."""

import multiprocessing
from multiprocessing import *  # noqa: F401,F403

from . import _shared, reductions  # noqa: F401
from .spawn import (
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    *multiprocessing.__all__, "ProcessContext", "ProcessExitedException", "ProcessRaisedException", "SpawnContext",
    "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip

_shared.register()


_STRATEGIES = ("file_descriptor", "file_system")
_strategy = _STRATEGIES[0]


def get_all_sharing_strategies():
    return set(_STRATEGIES)


def get_sharing_strategy():
    return _strategy


def set_sharing_strategy(new_strategy):
    """Takes note of the name: memory is handed over by descriptors, which do what files would do."""
    global _strategy
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {set(_STRATEGIES)}")
    _strategy = new_strategy
