"""torch.cpu: the questions of torch.cuda, asked about the device that is there."""

import contextlib

import _terra_C as C

from .._names import lazily

__all__ = [
    "Event", "Stream", "StreamContext", "current_device", "current_stream", "device_count", "get_capabilities",
    "is_available", "is_initialized", "set_device", "stream", "synchronize",
]  # fmt: skip


class Stream:
    """Work on the CPU is done in order: there is one stream and nothing to wait for."""

    def __init__(self, priority=-1, device="cpu"):
        self.priority, self.device = priority, C.device(device)

    def wait_stream(self, stream):
        """It has finished."""

    def record_event(self, event=None):
        return event

    def wait_event(self, event):
        """It has happened."""


class Event:
    def __init__(self, *arguments, **options):
        """Of no time."""

    def query(self):
        return True

    def record(self, stream=None):
        """It happens at once."""

    def synchronize(self):
        """It has happened."""

    def wait(self, stream=None):
        """It has happened."""


_stream = Stream()


class StreamContext(contextlib.AbstractContextManager):
    def __init__(self, stream):
        self.stream = stream

    def __exit__(self, *exception):
        return None


def stream(stream):
    return StreamContext(stream)


def current_stream(device=None):
    return _stream


def is_available():
    return True


def is_initialized():
    return True


def device_count():
    return 1


def current_device():
    return "cpu"


def set_device(device):
    """There is one."""


def synchronize(device=None):
    """Everything is done when it returns."""


def get_capabilities():
    """What the processor can do, as far as kernels ask."""
    import platform

    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="ascii", errors="ignore") as file:
        flags = next((line.split() for line in file if line.startswith("flags")), ())
        names = {"avx2": "avx2", "avx512_f": "avx512f", "avx512_bf16": "avx512_bf16", "fma3": "fma"}
        return {"architecture": platform.machine(), **{name: flag in flags for name, flag in names.items()}}
    return {"architecture": platform.machine()}


__getattr__ = lazily(__name__, ("amp",))
