"""Answers for programs that ask about CUDA: there is none."""

import contextlib

import _terra_C as C

from .._names import lazily
from .._no_device import *  # noqa: F401,F403

__all__ = [
    "current_device", "device_count", "empty_cache", "get_device_name", "is_available", "is_initialized", "manual_seed",
    "manual_seed_all", "max_memory_allocated", "memory_allocated", "set_device", "synchronize",
]  # fmt: skip


def _none(*_, **__):
    raise AssertionError("Terra was built without CUDA: torch.cuda.is_available() is False, use the device 'cpu'")


current_device = set_device = get_device_name = get_device_properties = get_device_capability = _none
init = mem_get_info = get_rng_state = set_rng_state = initial_seed = current_stream = default_stream = set_stream = _none
utilization = temperature = power_draw = clock_rate = list_gpu_processes = current_blas_handle = cudart = _none
set_per_process_memory_fraction = can_device_access_peer = make_graphed_callables = graph_pool_handle = _none
memory_cached = max_memory_cached = memory_allocated
default_generators = ()
has_half = has_magma = False
_initialized = False  # old checkpointing code looks here before it keeps the random states of devices


class StreamContext:
    """A context in which another stream would be the current one; with None it changes nothing."""

    def __init__(self, stream):
        if stream is not None:
            _none()

    def __enter__(self):
        return None

    def __exit__(self, *exception):
        return False


class device:
    """A context in which the device would be another one; with no device, or a CPU, it changes nothing."""

    def __init__(self, which=None):
        if which is not None and which != -1 and C.device(which).type == "cuda":
            _none()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


class device_of(device):
    """A context in which the device would be that of a tensor."""

    def __init__(self, obj):
        super().__init__(obj.device if obj.is_cuda else None)


def ipc_collect():
    """Nothing to free."""


def memory_snapshot(*_, **__):
    return []


def memory_summary(device=None, abbreviated=False):
    return "No CUDA memory: Terra runs on the CPU here."


def reset_max_memory_allocated(device=None):
    """Nothing was counted."""


def is_current_stream_capturing():
    return False


def is_tf32_supported():
    return False


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


class CUDAGraph(Stream):
    """There are none: making one raises."""


class graph(Stream):
    """There are none: making one raises."""


OutOfMemoryError = C.OutOfMemoryError


class _CudaType(type):
    """FloatTensor and its kin on a device that is not there: no tensor is one, and none can be made."""

    def __call__(cls, *args, **kwargs):
        raise TypeError(f"type torch.cuda.{cls.__name__} not available. Terra runs on the CPU here.")

    def __instancecheck__(cls, instance):
        return False


for _name in ("Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool"):
    globals()[_name + "Tensor"] = _CudaType(_name + "Tensor", (), {"__module__": "torch.cuda"})

__getattr__ = lazily(__name__, ("amp", "memory", "nvtx", "random"))
