"""Profiles: what runs between their begin and their end, and how long. record_function marks parts of the program itself.

Calls of ops are there as PyTorch names them (`aten::mm`), what goes backward by nodes of the tape (`MmBackward0`), and what
was captured as `terra::graph NAME`, with the steps that it runs. Ops that one loop computes are one step: `terra::fused(mul, add)`.
"""

import contextlib

from .. import _C
from .._missing_parts import sentences
from .._names import lazily
from .profiler_util import EventList, FunctionEvent, FunctionEventAvg, events_of  # noqa: F401

_running = []  # profiles


class record_function(contextlib.ContextDecorator):
    """Marks a part of the program under a name, while it is entered or, as a decorator, called."""

    def __init__(self, name, args=None):
        self.name, self.args = name, args
        self._opened = []

    def _recreate_cm(self):
        return type(self)(self.name, self.args)

    def __enter__(self):
        self._opened.append(_C._profile_open(self.name) if _running else 0)
        return self

    def __exit__(self, *exception):
        opened = self._opened.pop()
        if opened:
            _C._profile_close(opened)
        return False


class Profile:
    """Gathers what runs between start() and stop()."""

    def __init__(self, record_shapes=False, profile_memory=False, with_stack=False):
        self._wishes = record_shapes, profile_memory, with_stack
        self._events = None
        self.running = False

    def start(self):
        _running.append(self)
        self.running = True
        self._number = _C._profile_start(*self._wishes)

    def stop(self):
        self._events = events_of(_C._profile_stop(self._number), self._wishes[1])
        _running.remove(self)
        self.running = False

    def events(self):
        if self._events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self._events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        return self.events().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self):
        return self.events().total_average()

    def table(self, *args, **kwargs):
        return self.events().table(*args, **kwargs)

    def export_chrome_trace(self, path):
        self.events().export_chrome_trace(path)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        if not self._wishes[2]:
            raise AssertionError("export_stacks() requires with_stack=True")
        self.events().export_stacks(path, metric)

    @property
    def self_cpu_time_total(self):
        return self.events().self_cpu_time_total


class profile(Profile, contextlib.ContextDecorator):
    """torch.autograd.profiler.profile, of one piece of a program. Times of devices are none; `with_flops` counts nothing."""

    def __init__(
        self, enabled=True, *, use_cpu=True, use_device=None, record_shapes=False, with_flops=False, profile_memory=False,
        with_stack=False, with_modules=False, **_,
    ):  # fmt: skip
        super().__init__(record_shapes, profile_memory, with_stack)
        self.enabled = enabled

    @property
    def function_events(self):
        return self._events

    def __enter__(self):
        if not self.enabled:
            return None
        if self._events is not None or self.running:
            raise RuntimeError("Profiler context manager is not reentrant")
        self.start()
        return self

    def __exit__(self, *exception):
        if self.enabled:
            self.stop()
        return False

    def __str__(self):
        return "<unfinished torch.autograd.profile>" if self._events is None else str(self._events)

    __repr__ = __str__


globals().update(sentences("torch.autograd.profiler", ("emit_itt", "emit_nvtx", "load_nvprof"), "there is no such profiler here"))

__getattr__ = lazily(__name__)
