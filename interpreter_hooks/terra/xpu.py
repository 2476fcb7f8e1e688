"""Answers for programs that ask about Intel's GPUs: there is none."""

import contextlib

from ._names import lazily

__all__ = ["current_device", "device", "device_count", "empty_cache", "is_available", "manual_seed", "synchronize"]


def _none(*_, **__):
    raise AssertionError("Terra was built without XPU: torch.xpu.is_available() is False, use the device 'cpu'")


def is_available():
    return False


def is_initialized():
    return False


def is_bf16_supported(including_emulation=True):
    return False


def device_count():
    return 0


def manual_seed(seed):
    """Nothing to seed."""


manual_seed_all = manual_seed


def seed():
    """Nothing to seed."""


seed_all = seed


def empty_cache():
    """Nothing to free."""


def synchronize(device=None):
    """Nothing to wait for."""


def memory_allocated(device=None):
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def memory_stats(device=None):
    return {}


def reset_peak_memory_stats(device=None):
    """Nothing was counted."""


reset_accumulated_memory_stats = reset_peak_memory_stats


def get_rng_state_all():
    return []


def set_rng_state_all(states):
    """Nothing to set."""


def get_arch_list():
    return []


def get_gencode_flags():
    return ""


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
