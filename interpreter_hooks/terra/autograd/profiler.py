"""Wall time of marked parts of a program: record_function marks them, a profile gathers them."""

import contextlib
import dataclasses
import json
import os
import threading
import time

from .._missing_parts import sentences
from .._names import lazily

_running = []  # profiles that listen
_open = threading.local()


@dataclasses.dataclass
class FunctionEvent:
    """One run of a marked part. Times in microseconds; `self` times are without the marked parts inside."""

    name: str
    start: float
    end: float
    inner: float
    thread: int
    count: int = 1

    @property
    def key(self):
        return self.name

    @property
    def cpu_time_total(self):
        return self.end - self.start

    @property
    def self_cpu_time_total(self):
        return self.cpu_time_total - self.inner

    cpu_time = cpu_time_total
    device_time_total = self_device_time_total = cuda_time_total = self_cuda_time_total = 0.0


class FunctionEventAvg:
    """All runs of one part."""

    device_time_total = self_device_time_total = cuda_time_total = self_cuda_time_total = 0.0

    def __init__(self, name):
        self.key = self.name = name
        self.count, self.cpu_time_total, self.self_cpu_time_total = 0, 0.0, 0.0

    @property
    def cpu_time(self):
        return self.cpu_time_total / self.count if self.count else 0.0

    def add(self, event):
        self.count += 1
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        return self

    def __repr__(self):
        return f"<FunctionEventAvg key={self.key} self_cpu_time={_time(self.self_cpu_time_total)} cpu_time={_time(self.cpu_time)}>"


def _time(microseconds):
    for size, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


class EventList(list):
    """Events, or averages of them."""

    @property
    def self_cpu_time_total(self):
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0, **_):
        averages = {}
        for event in self:
            averages.setdefault(event.name, FunctionEventAvg(event.name)).add(event)
        return EventList(averages.values())

    def total_average(self):
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    def table(self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, header=None, top_level_events_only=False, **_):
        """Readable rows, those with the largest `sort_by` first."""
        rows = list(self)
        if sort_by is not None:
            rows.sort(key=lambda event: getattr(event, sort_by), reverse=True)
        total = self.self_cpu_time_total or 1.0
        heads = ("Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls")
        lines = []
        for e in rows[: row_limit if row_limit >= 0 else None]:
            name = e.name if len(e.name) <= max_name_column_width else e.name[: max_name_column_width - 3] + "..."
            shares = f"{e.self_cpu_time_total / total * 100:.2f}%", f"{e.cpu_time_total / total * 100:.2f}%"
            lines.append((name, shares[0], _time(e.self_cpu_time_total), shares[1], _time(e.cpu_time_total), _time(e.cpu_time), str(e.count)))
        widths = [max(len(row[i]) for row in (heads, *lines)) for i in range(len(heads))]
        rule = "  ".join("-" * width for width in widths)
        shown = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in (heads, *lines)]
        top = [header] if header else []
        return "\n".join([*top, rule, shown[0], rule, *shown[1:], rule, f"Self CPU time total: {_time(self.self_cpu_time_total)}", ""])

    def __str__(self):
        return self.table()

    def export_chrome_trace(self, path):
        import gzip

        traced = [
            {"ph": "X", "cat": "user_annotation", "name": e.name, "pid": os.getpid(), "tid": e.thread, "ts": e.start, "dur": e.end - e.start}
            for e in self
        ]
        text = json.dumps({"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": traced})
        with gzip.open(path, "wt") if str(path).endswith(".gz") else open(path, "w", encoding="utf-8") as file:
            file.write(text)


class record_function(contextlib.ContextDecorator):
    """Marks a part of the program under a name, while it is entered or, as a decorator, called."""

    def __init__(self, name, args=None):
        self.name, self.args = name, args
        self._starts = []

    def _recreate_cm(self):
        return type(self)(self.name)

    def __enter__(self):
        self._starts.append(time.perf_counter_ns())
        if not hasattr(_open, "inner"):
            _open.inner = []
        _open.inner.append(0.0)
        return self

    def __exit__(self, *exception):
        end, start, inner = time.perf_counter_ns() / 1e3, self._starts.pop() / 1e3, _open.inner.pop()
        if _open.inner:
            _open.inner[-1] += end - start
        if _running:
            event = FunctionEvent(self.name, start, end, inner, threading.get_native_id())
            for profile in _running:
                profile._events.append(event)
        return False


class Profile:
    """Gathers the marked parts that end while it runs; the whole is one more, called `[profile]`."""

    def __init__(self):
        self._events = EventList()
        self.running = False

    def start(self):
        self._whole = record_function("[profile]")
        self._whole.__enter__()
        _running.append(self)
        self.running = True

    def stop(self):
        self._whole.__exit__(None, None, None)
        _running.remove(self)
        self.running = False

    def events(self):
        return self._events

    def key_averages(self, *args, **kwargs):
        return self._events.key_averages()

    def total_average(self):
        return self._events.total_average()

    def table(self, *args, **kwargs):
        return self._events.table(*args, **kwargs)

    def export_chrome_trace(self, path):
        self._events.export_chrome_trace(path)

    @property
    def self_cpu_time_total(self):
        return self._events.self_cpu_time_total


class profile(Profile, contextlib.ContextDecorator):
    """The old torch.autograd.profiler.profile."""

    def __init__(self, enabled=True, *, use_cpu=True, **_):
        super().__init__()
        self.enabled = enabled
        self.function_events = None

    def __enter__(self):
        if self.enabled:
            self.start()
        return self

    def __exit__(self, *exception):
        if self.enabled:
            self.stop()
            self.function_events = self._events
        return False

    def __str__(self):
        return str(self._events)


globals().update(sentences("torch.autograd.profiler", ("emit_itt", "emit_nvtx", "load_nvprof"), "there is no such profiler here"))

__getattr__ = lazily(__name__)
