"""Answers for programs that ask about CUDA: there is none."""

import _terra_C as C

__all__ = [
    "current_device", "device_count", "empty_cache", "get_device_name", "is_available", "is_initialized", "manual_seed",
    "manual_seed_all", "max_memory_allocated", "memory_allocated", "set_device", "synchronize",
]  # fmt: skip


def _none(*_, **__):
    raise AssertionError("Terra was built without CUDA: torch.cuda.is_available() is False, use the device 'cpu'")


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


def empty_cache():
    """Nothing to free."""


def synchronize(device=None):
    """Nothing to wait for."""


def memory_allocated(device=None):
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated
current_device = set_device = get_device_name = get_device_properties = get_device_capability = _none


def reset_peak_memory_stats(device=None):
    """Nothing was counted."""


def get_rng_state_all():
    return []


def set_rng_state_all(states):
    """Nothing to set."""


class device:
    """A context in which the device would be another one; with no device, or a CPU, it changes nothing."""

    def __init__(self, which=None):
        if which is not None and which != -1 and C.device(which).type == "cuda":
            _none()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False
