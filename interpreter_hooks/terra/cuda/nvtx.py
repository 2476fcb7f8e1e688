"""torch.cuda.nvtx: marks for NVIDIA's profiler, which has nothing to see here."""

import contextlib


def range_push(msg):
    return -1


def range_pop():
    return -1


def mark(msg):
    """Nobody is listening."""


@contextlib.contextmanager
def range(msg, *args, **kwargs):
    yield
