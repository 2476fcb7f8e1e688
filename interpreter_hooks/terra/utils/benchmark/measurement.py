"""What a Timer has measured."""

import dataclasses
import statistics

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def select_unit(t):
    """(unit, its length in seconds) in which a time is easy to read."""
    for scale, unit in _UNITS:
        if t >= scale:
            return unit, scale
    return "ns", 1e-9


@dataclasses.dataclass
class Measurement:
    """Seconds of several blocks of number_per_run runs each."""

    number_per_run: int
    raw_times: list
    task_spec: object
    metadata: dict = None

    @property
    def times(self):
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def median(self):
        return statistics.median(self.times)

    @property
    def mean(self):
        return statistics.fmean(self.times)

    @property
    def iqr(self):
        """The distance between the quarter points."""
        if len(self.raw_times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return high - low

    @property
    def has_warnings(self):
        return self.iqr > 0.1 * self.median

    @property
    def title(self):
        return self.task_spec.title

    def __repr__(self):
        unit, scale = select_unit(self.median)
        lines = [f"<{__name__.rpartition('.')[0].replace('terra', 'torch', 1)}.Measurement object>", self.title]
        if self.task_spec.setup != "pass":
            lines.append(f"setup: {self.task_spec.setup}")
        lines.append(f"  Median: {self.median / scale:.2f} {unit}" if len(self.raw_times) > 1 else f"  {self.median / scale:.2f} {unit}")
        if len(self.raw_times) > 1:
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit}")
        runs = f"{self.number_per_run} runs" if self.number_per_run != 1 else "1 run"
        lines.append(f"  {len(self.raw_times)} measurements, {runs} per measurement, {self.task_spec.num_threads} threads")
        return "\n".join(lines)
