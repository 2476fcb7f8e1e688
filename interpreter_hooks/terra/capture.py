"""What the engine captures of a program, and how to steer it.

    with terra.capture.mode("off"): ...      # also as a decorator; "auto", "frame", "coexec", "verify", "stress"
    @terra.capture.off                       # this function and what it calls run plainly
    print(terra.capture.explain(f, *args))   # calls f until it is hot, then says what became of it
    print(*terra.capture.graphs(f))          # what it runs as
"""

import collections
import contextlib
import functools
import json

import _terra_C as C

__all__ = ["Reason", "explain", "freeze", "graph_seconds", "graphs", "mode", "off", "reasons", "reset", "stats"]

Reason = collections.namedtuple("Reason", "number sentence hint example")


class mode(contextlib.ContextDecorator):
    """Context manager and decorator: the capture mode of the process while it is entered."""

    def __init__(self, name):
        self.name = name
        self._before = []

    def _recreate_cm(self):
        return type(self)(self.name)

    def __enter__(self):
        self._before.append(C.capture_mode(self.name))
        return self

    def __exit__(self, *exception):
        C.capture_mode(self._before.pop())
        return False


def off(function):
    """Decorator: the function and everything that it calls run plainly."""

    @functools.wraps(function)
    def plain(*args, **kwargs):
        before = C.capture_mode("off")
        try:
            return function(*args, **kwargs)
        finally:
            C.capture_mode(before)

    return plain


def _code_of(function):
    """What has the code that is captured: the forward of a module, the function behind one that may be taken over."""
    target = getattr(function, "forward", function)
    return target.__wrapped__ if isinstance(target, C.Overridable) else target


def explain(function, *args, **kwargs):
    """Readable text about a function: its entries, guards, misses, or why it was given up. Given arguments, it is
    called with them first, often enough to be captured, whether that pays or not."""
    target = _code_of(function)
    if args or kwargs:
        C.capture_thrift(False)
        try:
            calls = 0
            while calls < 6 * (1 + C.capture_frame(target)["rests"]):  # each part of its frames is captured in turn
                function(*args, **kwargs)
                calls += 1
        finally:
            C.capture_thrift(True)
    return C.capture_explain(target)


def graphs(function):
    """The optimized graphs that a function was captured as: a list of texts, the most recently used one first."""
    return C.capture_graphs(_code_of(function))


def graph_seconds(function, *args, runs=1000):
    """How long the graph of a captured function takes for these (positional) arguments when it is run again and again
    with nothing around it. What a call takes longer is the price of calling. In-place changes are made `runs` times."""
    if not hasattr(function, "__code__") and hasattr(function, "forward"):
        function, args = type(function).forward, (function, *args)
    return C.capture_graph_seconds(_code_of(function), args, runs)


def stats():
    """What --report writes, as a dict."""
    return json.loads(C.capture_report())


def reasons():
    """The table behind the reason numbers of reports: why a frame was not captured, or not as a whole."""
    return [Reason(*row) for row in C.capture_reasons()]


def freeze(on=True):
    """From now on nothing is recorded, and a call that fits none of its function's graphs raises RuntimeError.

    Functions that were never captured run plainly."""
    C.capture_freeze(on)


def reset():
    """Forgets everything that was captured."""
    C.capture_reset()
