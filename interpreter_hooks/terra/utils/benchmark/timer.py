"""Timer: seconds of a snippet of Python, on a number of threads."""

import dataclasses
import timeit

import _terra_C as C

from .measurement import Measurement

timer = timeit.default_timer


@dataclasses.dataclass(frozen=True)
class TaskSpec:
    """What is timed, and under which names it is shown."""

    stmt: str
    setup: str
    label: str = None
    sub_label: str = None
    description: str = None
    env: str = None
    num_threads: int = 1

    @property
    def title(self):
        name = self.label or self.stmt
        return f"{name}: {self.sub_label}" if self.sub_label else name


class Timer:
    """The snippet sees `globals` and torch."""

    def __init__(
        self, stmt="pass", setup="pass", global_setup="", timer=timer, globals=None, label=None, sub_label=None,
        description=None, env=None, num_threads=1, language="python",
    ):  # fmt: skip
        if str(language).lower() not in ("python", "language.python", "py"):
            raise NotImplementedError("torch.utils.benchmark.Timer: Terra times Python; there is no compiler for C++ snippets.")
        names = dict(globals or {})
        if "torch" not in names:
            import terra

            names["torch"] = terra
        stmt, setup = _dedented(stmt), _dedented(setup)
        self._task_spec = TaskSpec(stmt, setup, label, sub_label, description, env, num_threads)
        self._timer = timeit.Timer(stmt, setup, timer, names)

    def _block(self, number):
        before = C.get_num_threads()
        C.set_num_threads(self._task_spec.num_threads)
        try:
            return max(self._timer.timeit(number), 1e-9)
        finally:
            C.set_num_threads(before)

    def _number(self, seconds):
        """How many runs take that long."""
        number = 1
        while True:
            taken = self._block(number)
            if taken >= seconds:
                return number
            number *= 10 if taken < seconds / 10 else 2

    def timeit(self, number=1000000):
        """One block, after a shorter one to warm up."""
        self._block(max(number // 100, min(number, 2)))
        return Measurement(number, [self._block(number)], self._task_spec)

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """Blocks, long enough to be measured well, until min_run_time is over."""
        number = self._number(min_run_time / 1000)
        times = []
        while sum(times) < min_run_time:
            times.append(self._block(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, self._task_spec)

    def adaptive_autorange(self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0, callback=None):
        """Blocks until the spread is below a share of the median, or the time is over."""
        number = self._number(0.05 * min_run_time)
        times = []
        while sum(times) < max_run_time:
            times.append(self._block(number))
            if callback is not None:
                callback(number, times[-1])
            found = Measurement(number, times, self._task_spec)
            if sum(times) >= min_run_time and len(times) >= 4 and found.iqr / found.median < threshold:
                break
        return Measurement(number, times, self._task_spec)

    def collect_callgrind(self, *args, **kwargs):
        raise NotImplementedError("Timer.collect_callgrind: Terra does not run snippets under valgrind.")


def _dedented(code):
    import textwrap

    return textwrap.dedent(code).strip() if isinstance(code, str) else code
