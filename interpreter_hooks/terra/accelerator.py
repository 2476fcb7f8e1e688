"""torch.accelerator: the device that is faster than the CPU. There is none."""

import contextlib

from ._names import lazily
from ._no_device import (  # noqa: F401
    device_count, empty_cache, is_available, max_memory_allocated, max_memory_reserved, memory_allocated, memory_reserved,
    memory_stats, reset_accumulated_memory_stats, reset_peak_memory_stats,
)  # fmt: skip

__all__ = [
    "current_accelerator", "current_device_index", "current_stream", "device_count", "device_index", "is_available",
    "set_device_index", "set_stream", "synchronize",
]  # fmt: skip


def _none(*_, **__):
    raise RuntimeError("Terra has no accelerator here: torch.accelerator.is_available() is False, use the device 'cpu'")


def current_accelerator(check_available=False):
    return None


current_device_index = current_device_idx = set_device_index = set_device_idx = current_stream = set_stream = _none
synchronize = get_device_capability = get_memory_info = _none


class AcceleratorError(RuntimeError):
    """What an accelerator would fail with."""


empty_host_cache = empty_cache


class device_index(contextlib.AbstractContextManager):
    """A context in which the current device would be another one; with None it changes nothing."""

    def __init__(self, device):
        if device is not None:
            _none()

    def __exit__(self, *exception):
        return None


__getattr__ = lazily(__name__)
