"""Answers for programs that ask about Intel's GPUs: there is none."""

import contextlib

from ._names import lazily
from ._no_device import *  # noqa: F401,F403

__all__ = ["current_device", "device", "device_count", "empty_cache", "is_available", "manual_seed", "synchronize"]


def _none(*_, **__):
    raise AssertionError("Terra was built without XPU: torch.xpu.is_available() is False, use the device 'cpu'")


current_device = set_device = get_device_name = get_device_properties = get_device_capability = _none
init = mem_get_info = get_rng_state = set_rng_state = initial_seed = current_stream = set_stream = _none
can_device_access_peer = get_stream_from_external = set_per_process_memory_fraction = _none


class device(contextlib.AbstractContextManager):
    """A context in which the device would be another one; with no device it changes nothing."""

    def __init__(self, which=None):
        if which is not None and which != -1:
            _none()

    def __exit__(self, *exception):
        return None


device_of = device


@contextlib.contextmanager
def stream(stream):
    """With no stream it changes nothing; there can't be another."""
    if stream is not None:
        _none()
    yield


class Stream:
    """There are none: making one raises."""

    def __new__(cls, *args, **kwargs):
        _none()


class Event(Stream):
    """There are none: making one raises."""


__getattr__ = lazily(__name__)
