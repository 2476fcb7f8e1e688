"""torch.profiler: profiles (autograd/profiler.py) of whole programs, or of the steps that a schedule says."""

import contextlib
import os
import socket
import time
from enum import Enum

from .._names import lazily
from ..autograd.profiler import Profile, record_function

__all__ = ["ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule", "supported_activities", "tensorboard_trace_handler"]


class ProfilerActivity(Enum):
    CPU = 0
    XPU = 1
    CUDA = 2


class ProfilerAction(Enum):
    """What a step of a schedule does."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities():
    return {ProfilerActivity.CPU}


def kineto_available():
    return False


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """Of each wait + warmup + active steps the last are recorded."""

    def action(step):
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        length = wait + warmup + active
        if skip_first_wait:
            step += wait
        if repeat > 0 and step // length >= repeat:
            return ProfilerAction.NONE
        step %= length
        if step < wait:
            return ProfilerAction.NONE
        if step < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if step < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """Writes each trace into a file of the folder."""

    def handle(profiler):
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json" + (".gz" if use_gzip else "")
        profiler.export_chrome_trace(os.path.join(dir_name, name))

    return handle


class profile(contextlib.ContextDecorator):
    """Records while it is entered, or at the steps that a schedule says."""

    def __init__(
        self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
        with_stack=False, with_flops=False, with_modules=False, experimental_config=None, execution_trace_observer=None,
        acc_events=False, use_cuda=None, custom_trace_id_callback=None,
    ):  # fmt: skip
        self._schedule, self._on_trace_ready = schedule, on_trace_ready
        self._wishes = record_shapes, profile_memory, with_stack
        self.profiler = None
        self.step_num = 0
        self.current_action = None
        self._step = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()
        return False

    def _action(self):
        return self._schedule(self.step_num) if self._schedule else ProfilerAction.RECORD

    def start(self):
        self.current_action = self._action()
        self._begin()

    def stop(self):
        recording = self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        self._end()
        if recording and self._on_trace_ready:
            self._on_trace_ready(self)

    def _begin(self):
        if self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            if self.profiler is None or not self.profiler.running:
                self.profiler = Profile(*self._wishes)
                self.profiler.start()
            if self._schedule:
                self._step = record_function(f"ProfilerStep#{self.step_num}")
                self._step.__enter__()

    def _end(self):
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None
        if self.profiler is not None and self.profiler.running:
            self.profiler.stop()

    def step(self):
        """The end of one step of the program."""
        done = self.current_action
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None
        self.step_num += 1
        self.current_action = self._action()
        if done == ProfilerAction.RECORD_AND_SAVE:
            self._end()
            if self._on_trace_ready:
                self._on_trace_ready(self)
        self._begin()

    def _recorded(self, asked):
        if self.profiler is None:
            raise AssertionError(f"Profiler must be initialized before {asked}")
        return self.profiler

    def events(self):
        return self._recorded("accessing events").events()

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        return self._recorded("getting key averages").key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_chrome_trace(self, path):
        self._recorded("exporting chrome trace").export_chrome_trace(path)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        self._recorded("exporting stacks").export_stacks(path, metric)

    def export_memory_timeline(self, path, device=None):
        raise NotImplementedError("profile.export_memory_timeline: Terra's profiler does not know what memory is for.")

    def add_metadata(self, key, value):
        """Kept by nothing: traces hold what ran."""

    add_metadata_json = add_metadata


__getattr__ = lazily(__name__)
