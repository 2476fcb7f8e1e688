"""What a profile has seen: events, their averages, and tables of them."""

import enum
import json
import os

from .._names import lazily

_MICROSECOND = 1e3  # nanoseconds
_COLUMN = 12  # characters
_NO_DEVICE = {
    f"{scope}{device}_{what}": value
    for device in ("device", "cuda")
    for scope in ("", "self_")
    for what, value in (("time_total", 0.0), ("memory_usage", 0))
} | {"device_time": 0.0, "cuda_time": 0.0, "device_time_str": "0.000us", "device_time_total_str": "0.000us"}


def _time(microseconds):
    for size, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


def _memory(count):
    for size, unit in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if abs(count) >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} B"


def _share(part, whole):
    return f"{part / whole * 100:.2f}%" if whole else "--"


class DeviceType(enum.Enum):
    """Where an event ran."""

    CPU = 0
    CUDA = 1


class Interval:
    """Microseconds from the begin of the profile."""

    def __init__(self, start, end):
        self.start, self.end = start, end

    def elapsed_us(self):
        return self.end - self.start


class _Timed:
    """What events and their averages have in common."""

    locals().update(_NO_DEVICE)
    device_type = DeviceType.CPU
    is_async = is_remote = is_legacy = is_user_annotation = False
    node_id, flops, overload_name = -1, 0, ""

    @property
    def cpu_time(self):
        return self.cpu_time_total / self.count if self.count else 0.0

    cpu_time_str = property(lambda self: _time(self.cpu_time))
    cpu_time_total_str = property(lambda self: _time(self.cpu_time_total))
    self_cpu_time_total_str = property(lambda self: _time(self.self_cpu_time_total))


class FunctionEvent(_Timed):
    """One scope: a call of an op, a node of the tape, the run of a graph or a step of it, what record_function marks.

    Times are in microseconds, memory in bytes; what begins with `self` is without the scopes inside.
    """

    count, sequence_nr, scope, fwd_thread = 1, -1, 0, None

    def __init__(self, id, name, thread, start_us, end_us, input_shapes=(), stack=(), cpu_memory_usage=0):
        self.id, self.trace_name, self.thread = id, name, thread
        self.name = "ProfilerStep*" if name.startswith("ProfilerStep#") else name
        self.time_range = Interval(start_us, end_us)
        self.input_shapes, self.stack = list(input_shapes), list(stack)
        self.concrete_inputs, self.kernels = [], []
        self.cpu_memory_usage = cpu_memory_usage
        self.cpu_parent, self.cpu_children = None, []

    key = property(lambda self: self.name)
    cpu_time_total = property(lambda self: self.time_range.elapsed_us())

    @property
    def self_cpu_time_total(self):
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self):
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    def append_cpu_child(self, child):
        child.cpu_parent = self
        self.cpu_children.append(child)

    def __repr__(self):
        return (
            f"<FunctionEvent id={self.id} name={self.name} device_type={self.device_type} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start:.3f} end_us={self.time_range.end:.3f} "
            f"cpu_children={[child.id for child in self.cpu_children]} thread={self.thread} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage}>"
        )


class FunctionEventAvg(_Timed):
    """Events of one name, or of one name with one list of shapes, or from one place: their number and their sums."""

    def __init__(self):
        self.key = self.input_shapes = self.stack = self.scope = self.cpu_parent = None
        self.count, self.cpu_children = 0, []
        self.cpu_time_total = self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0

    name = property(lambda self: self.key)

    def add(self, other):
        if self.key is None:
            self.key, self.scope, self.cpu_parent = other.key, other.scope, other.cpu_parent
            self.input_shapes, self.stack, self.cpu_children = other.input_shapes, other.stack, other.cpu_children
        for sum in ("count", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage"):
            setattr(self, sum, getattr(self, sum) + getattr(other, sum))
        return self

    __iadd__ = add

    def __repr__(self):
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str} "
            f"self_cuda_time=0.000us cuda_time=0.000us input_shapes={self.input_shapes or ''} "
            f"cpu_memory_usage={self.cpu_memory_usage} cuda_memory_usage=0>"
        )


class EventList(list):
    """Events in the order in which they began, or averages of them."""

    supported_export_stacks_metrics = ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"]

    def __init__(self, events=(), profile_memory=False):
        super().__init__(events)
        self._profile_memory = profile_memory

    @property
    def self_cpu_time_total(self):
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0, group_by_overload_name=False):
        averages = {}
        for event in self:
            stack = event.stack[:group_by_stack_n]
            shapes = str(event.input_shapes) if group_by_input_shapes else ""
            averages.setdefault((event.key, shapes, *stack), FunctionEventAvg()).add(event)
        for (_, _, *stack), average in averages.items():
            average.stack = stack
            if not group_by_input_shapes:
                average.input_shapes = ""
        return EventList(averages.values(), self._profile_memory)

    def total_average(self):
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
            total.key = None
        total.key = "Total"
        return total

    def table(
        self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80,
        header=None, top_level_events_only=False, time_unit=None,
    ):  # fmt: skip
        """Rows that a person reads, those with the largest `sort_by` first."""
        rows = [event for event in self if not (top_level_events_only and event.cpu_parent)]
        if not rows:
            return ""
        if sort_by is not None:
            rows.sort(key=lambda event: getattr(event, sort_by.replace("xpu", "device")), reverse=True)
        rows = rows[: row_limit if row_limit >= 0 else None]
        whole = self.self_cpu_time_total
        columns = [_column("Name", [event.key for event in rows], max_name_column_width)]
        add = lambda head, cells, most=_COLUMN: columns.append(_column(head, cells, most, _COLUMN))  # noqa: E731
        add("Self CPU %", [_share(event.self_cpu_time_total, whole) for event in rows])
        add("Self CPU", [event.self_cpu_time_total_str for event in rows])
        add("CPU total %", [_share(event.cpu_time_total, whole) for event in rows])
        add("CPU total", [event.cpu_time_total_str for event in rows])
        add("CPU time avg", [event.cpu_time_str for event in rows])
        if self._profile_memory:
            add("CPU Mem", [_memory(event.cpu_memory_usage) for event in rows])
            add("Self CPU Mem", [_memory(event.self_cpu_memory_usage) for event in rows])
        add("# of Calls", [str(event.count) for event in rows])
        if any(event.input_shapes for event in rows):
            columns.append(_column("Input Shapes", [str(event.input_shapes) for event in rows], max_shapes_column_width))
        if any(event.stack for event in rows):
            columns.append(_column("Source Location", [(event.stack or [""])[0] for event in rows], max_src_column_width))
        rule = "".join("-" * width + "  " for _, width in columns)
        lines = ["".join(cell.rjust(width) + "  " for cell, width in zip(row, (width for _, width in columns))) for row in zip(*(c for c, _ in columns))]
        top = ["=" * len(rule), header] if header is not None else []
        return "\n".join([*top, rule, lines[0], rule, *lines[1:], rule, f"Self CPU time total: {_time(whole)}", ""])

    def __str__(self):
        return self.table()

    def export_chrome_trace(self, path):
        import gzip

        process = os.getpid()
        traced = [
            {
                "ph": "X", "cat": "cpu_op" if "::" in event.name else "user_annotation", "name": event.trace_name, "pid": process,
                "tid": event.thread, "ts": event.time_range.start, "dur": event.cpu_time_total,
                "args": {"External id": event.id, "Input Dims": event.input_shapes, "Call stack": ";".join(event.stack)},
            }
            for event in self
        ]  # fmt: skip
        text = json.dumps({"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": traced})
        with gzip.open(path, "wt") if str(path).endswith(".gz") else open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Lines for flame graphs: frames from the outermost in, and what was spent there."""
        if metric not in self.supported_export_stacks_metrics:
            raise ValueError("metric should be one of: " + str(self.supported_export_stacks_metrics))
        spoiled = str.maketrans(" ;\t\n", "____")
        with open(path, "w", encoding="utf-8") as file:
            for event in self:
                spent = int(getattr(event, metric, 0))
                if event.stack and spent > 0:
                    file.write(";".join(frame.translate(spoiled) for frame in reversed(event.stack)) + f" {spent}\n")


def _column(head, cells, most, least=0):
    """Its cells below its head, and how wide it is."""
    width = least or min(max(len(head), *map(len, cells)) + 4, most)
    return [head, *(cell if len(cell) <= width else cell[: width - 3] + "..." for cell in cells)], width


def events_of(rows, profile_memory):
    """EventList of what the engine says of a profile's scopes."""
    begun = min((row[1] for row in rows), default=0)
    events = []
    for number, (name, begin, end, outer, thread, memory, shapes, stack) in enumerate(rows):
        times = (begin - begun) / _MICROSECOND, (end - begun) / _MICROSECOND
        events.append(FunctionEvent(number + 1, name, thread, *times, shapes, stack, memory))
        if outer >= 0:
            events[outer].append_cpu_child(events[-1])
    return EventList(events, profile_memory)


__getattr__ = lazily(__name__)
