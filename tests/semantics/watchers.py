# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=op=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=interrupt=*@3
"""What debuggers, profilers, loggers and handlers see of functions that are captured between their visits."""
import asyncio
import bdb
import cProfile
import gc
import inspect
import io
import logging
import pdb
import pstats
import signal
import sys
import threading
import trace
import traceback
import tracemalloc
import warnings

import terra
from _harness import main, program

X = terra.arange(6.0).reshape(2, 3)


def caller_of(f, call):
    """A program whose captured function is `f` and whose calls go through `call`."""
    call.target = f
    return call


def line_in(f, line):
    return line - f.__code__.co_firstlineno


@program(calls=12, captures=4)
def profiled_by_c_profile():
    def inner(y):
        return y.sum()

    def f(x):
        return inner(x * 2) + inner(x)

    def call(x, profiled):
        if not profiled:
            return f(x)
        profile = cProfile.Profile()
        result = profile.runcall(f, x)
        rows = pstats.Stats(profile, stream=io.StringIO()).stats
        counts = sorted((name, row[0]) for (_, _, name), row in rows.items() if name in ("f", "inner"))
        return result, counts
    return caller_of(f, call), lambda i: (X, i % 3 == 2), None


@program(calls=12, captures=4)
def counted_by_trace():
    def f(x, n):
        y = x
        for _ in range(n):
            y = y + 1
        return y

    def call(x, counted):
        if not counted:
            return f(x, 3)
        tracer = trace.Trace(count=1, trace=0)
        result = tracer.runfunc(f, x, 3)
        file = f.__code__.co_filename
        return result, sorted((line_in(f, line), n) for (name, line), n in tracer.results().counts.items()
                              if name == file and 0 <= line_in(f, line) < 5)
    return caller_of(f, call), lambda i: (X, i % 4 == 3), None


@program(calls=12, captures=4)
def stepped_through_by_pdb():
    def f(x, k):
        y = x * k
        z = y + 1
        return z

    def call(x, debugged):
        if not debugged:
            return f(x, 2)
        out = io.StringIO()
        debugger = pdb.Pdb(stdin=io.StringIO("next\nnext\np k, y.sum().item()\ncontinue\n"), stdout=out, nosigint=True,
                           readrc=False)
        debugger.use_rawinput = False
        result = debugger.runcall(f, x, 2)
        return result, [line for line in out.getvalue().splitlines() if line.startswith("(Pdb) (") or line.startswith("->")]
    return caller_of(f, call), lambda i: (X, i % 4 == 3), None


@program(calls=12, captures=3)
def breakpoint_inside():
    def inner(y):
        y = y + 1
        return y * 2

    def f(x):
        return inner(x * 3).sum()

    class Stops(bdb.Bdb):
        stops = []

        def user_line(self, frame):
            if self.break_here(frame):
                self.stops.append((frame.f_code.co_name, line_in(inner, frame.f_lineno), frame.f_locals["y"].tolist()))
            self.set_continue()

    def call(x, debugged):
        if not debugged:
            return f(x)
        debugger = Stops()
        debugger.set_break(__file__, inner.__code__.co_firstlineno + 2)
        result = debugger.runcall(f, x)
        debugger.clear_all_breaks()
        return result, list(Stops.stops)
    return caller_of(f, call), lambda i: (X + i, i % 4 == 3), None


@program(calls=12, captures=2)
def locals_in_a_traceback():
    def inner(y, n):
        w = y * n
        if n % 4 == 3:
            raise ValueError(n)
        return w

    def f(x, n):
        y = x + n
        return inner(y, n)

    def call(x, n):
        try:
            return f(x, n)
        except ValueError as error:
            steps = [step for step, _ in traceback.walk_tb(error.__traceback__) if step.f_code.co_name != "call"]
            return [(step.f_code.co_name, sorted(step.f_locals), step.f_locals["y"]) for step in steps]
    return caller_of(f, call), lambda i: (X, i), None


@program(calls=12, captures=None)
def traceback_printed_inside():
    def f(x, k):
        try:
            return x * {}[k]
        except KeyError:
            text = traceback.format_exc()
            return x + 1, [line.strip() for line in text.splitlines() if "return x" in line or "KeyError" in line]
    return f, lambda i: (X, i), None


@program(calls=12, captures=None)
def caller_read_by_a_callee():
    def spy():
        frame = sys._getframe(1)
        return sorted(frame.f_locals), frame.f_locals["y"].sum().item(), line_in(f, frame.f_lineno)

    def f(x, k):
        y = x * k
        return y + 1, spy()
    return f, lambda i: (X, i), None


@program(calls=12, captures=None)
def names_by_dir_vars_and_eval():
    def f(x, k):
        y = x * k
        return y, sorted(vars()), dir(), eval("y + k")
    return f, lambda i: (X, i), None


@program(calls=12, captures=None)
def stack_extracted_inside():
    def inner():
        return [(step.name, line_in(f, step.lineno)) for step in traceback.extract_stack()[-2:]]

    def f(x):
        y = x * 2
        return y, inner()
    return f, lambda i: (X,), None


@program(calls=12, captures=None)
def logger_that_finds_its_caller():
    records = []

    class Handler(logging.Handler):
        def emit(self, record):
            records.append((record.getMessage(), record.funcName, line_in(f, record.lineno)))

    logger = logging.Logger("watched")
    logger.addHandler(Handler())

    def f(x, i):
        y = x * i
        logger.warning("call %d", i)
        return y + 1
    return f, lambda i: (X, i), records


@program(calls=12, captures=None)
def warnings_once_for_a_place():
    shown = []

    def f(x, i):
        y = x + i
        warnings.warn("always the same")
        if i % 2:
            warnings.warn("another place")
        return y

    def call(x, i):
        before, warnings.showwarning = warnings.showwarning, lambda *a, **k: shown.append((str(a[0]), line_in(f, a[3])))
        with warnings.catch_warnings():
            warnings.simplefilter("default" if i < 8 else "once")
            warnings.showwarning = lambda *a, **k: shown.append((str(a[0]), line_in(f, a[3])))
            y = f(x, i)
        warnings.showwarning = before
        return y, len(shown)
    return caller_of(f, call), lambda i: (X, i), shown


@program(calls=12, captures=None)
def warning_that_blames_the_caller():
    def deprecated(y):
        warnings.warn("old", DeprecationWarning, stacklevel=2)
        return y

    def f(x):
        y = x * 2
        return deprecated(y)

    def call(x):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            y = f(x)
        return y, [line_in(f, w.lineno) for w in caught]
    return caller_of(f, call), lambda i: (X,), None


@program(calls=12, captures=None)
def breakpoint_hook():
    seen = []

    def hook():
        frame = sys._getframe(1)
        seen.append((frame.f_code.co_name, sorted(frame.f_locals)))

    def f(x):
        y = x * 2
        breakpoint()
        return y

    def call(x):
        before, sys.breakpointhook = sys.breakpointhook, hook
        try:
            return f(x)
        finally:
            sys.breakpointhook = before
    return caller_of(f, call), lambda i: (X,), seen


@program(calls=12, captures=None)
def frame_traced_by_hand():
    lines = []

    def follow(frame, event, argument):
        lines.append((event, line_in(f, frame.f_lineno)))
        return follow

    def f(x):
        y = x * 2
        sys._getframe().f_trace = follow
        sys.settrace(lambda *a: None)
        y = y + 1
        sys.settrace(None)
        return y
    return f, lambda i: (X,), lines


@program(calls=8, captures=2)
def depth_of_a_recursion():
    depth = []

    def down(n):
        depth.append(n)
        down(n + 1)

    def f(x):
        return x * 2

    def call(x):
        limit = sys.getrecursionlimit()
        depth.clear()
        sys.setrecursionlimit(300)
        try:
            down(0)
        except RecursionError:
            reached = len(depth)
        finally:
            sys.setrecursionlimit(limit)
        depth[:] = [reached > 200]
        return f(x)
    return caller_of(f, call), lambda i: (X,), depth


@program(calls=12, captures=None, reason=14)
def suspended_generator():
    def produce(x):
        y = x * 2
        yield y
        yield y + 1

    def f(source, x):
        return next(source) * 2 + x

    def call(x):
        source = produce(x)
        first = f(source, x)
        line = line_in(produce, source.gi_frame.f_lineno)
        return first, line, sorted(source.gi_frame.f_locals), f(source, x), inspect.getgeneratorstate(source)
    return caller_of(f, call), lambda i: (X,), None


@program(calls=12, captures=4)
def cancelled_task():
    def f(x, k):
        return (x * k).sum()

    async def work(x, out):
        try:
            for k in range(5):
                out.append(f(x, k))
                await asyncio.sleep(0)
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            out.append("cancelled")
            raise

    async def run(x):
        out = []
        task = asyncio.ensure_future(work(x, out))
        for _ in range(8):
            await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            out.append(task.cancelled())
        return out
    return caller_of(f, lambda x: asyncio.run(run(x))), lambda i: (X,), None


@program(calls=12, captures=4)
def asynchronous_generator():
    def f(x, k):
        return x * k + 1

    async def produce(x):
        for k in range(3):
            yield f(x, k)
            await asyncio.sleep(0)

    async def run(x):
        return [y async for y in produce(x)]
    return caller_of(f, lambda x: asyncio.run(run(x))), lambda i: (X,), None


@program(calls=8, captures=4)
def moved_to_a_thread():
    def f(x, k):
        return x * k + 1

    async def run(x):
        return await asyncio.gather(*(asyncio.to_thread(f, x, 2) for _ in range(2)))
    return caller_of(f, lambda x: asyncio.run(run(x))), lambda i: (X,), None


@program(calls=12, captures=3)
def handler_that_raises():
    class Timeout(Exception):
        pass

    done = []

    def f(x):
        done.append(x.sum())
        return x * 2

    def on_alarm(number, frame):
        raise Timeout

    def call(x, i):
        before = signal.signal(signal.SIGUSR1, on_alarm)
        try:
            if i % 3 == 2:
                signal.raise_signal(signal.SIGUSR1)
            return f(x)
        except Timeout:
            return "timeout", len(done)
        finally:
            signal.signal(signal.SIGUSR1, before)
    return caller_of(f, call), lambda i: (X, i), done


@program(calls=12, captures=None)
def finalizer_that_raises():
    told = []

    class Noisy:
        def __init__(self, x):
            self.x = x

        def __del__(self):
            raise ValueError("in a finalizer")

    box = [None]

    def f(x):
        box[0] = None
        return x * 2

    def call(x):
        before, sys.unraisablehook = sys.unraisablehook, lambda u: told.append((str(u.exc_value), u.object.__name__))
        box[0] = Noisy(x)
        try:
            return f(x)
        finally:
            sys.unraisablehook = before
    return caller_of(f, call), lambda i: (X,), told


@program(calls=12, captures=4)
def with_tracemalloc():
    def f(x):
        return [x * 2, x + 1]

    def call(x, i):
        if i % 4 == 1:
            tracemalloc.start(5)
        y = f(x)
        if i % 4 == 2:
            tracemalloc.take_snapshot()
            tracemalloc.stop()
        return y
    return caller_of(f, call), lambda i: (X, i), None


@program(calls=12, captures=4)
def seen_by_the_collector():
    box = []

    def f(x):
        box[:] = [[x * 2]]
        return box[0]

    def call(x):
        y = f(x)
        gc.collect()
        tracked = gc.is_tracked(y), any(z is y for z in gc.get_referrers(y[0])), any(z is y for z in gc.get_objects())
        gc.freeze()
        gc.unfreeze()
        return tracked, y
    return caller_of(f, call), lambda i: (X,), box


@program(calls=12, captures=3)
def tracer_of_all_threads():
    def f(x):
        y = x * 2
        return y + 1

    seen = []

    def watch(frame, event, argument):
        if frame.f_code is f.__code__:
            seen.append((event, line_in(f, frame.f_lineno)))
        return watch

    def call(x, traced):
        if not traced:
            return f(x), len(seen)
        results = []
        threading.settrace(watch)
        thread = threading.Thread(target=lambda: results.append(f(x)))
        thread.start()
        thread.join()
        threading.settrace(None)
        return results, len(seen)
    return caller_of(f, call), lambda i: (X, i % 4 == 3), seen


@program(calls=12, captures=4)
def coroutine_driven_by_hand():
    def f(x, k):
        return x * k

    async def steps(x):
        a = f(x, 2)
        b = f(a, 3)
        return a, b

    def call(x):
        coroutine = steps(x)
        try:
            coroutine.send(None)
        except StopIteration as stop:
            return stop.value, inspect.getcoroutinestate(coroutine)
    return caller_of(f, call), lambda i: (X,), None


@program(calls=12, captures=None)
def frame_kept():
    frames = []

    def f(x, i):
        y = x * i
        frames[:] = [sys._getframe()]
        return y + 1

    def call(x, i):
        result = f(x, i)
        frame, = frames
        return result, sorted(frame.f_locals), frame.f_locals["y"], line_in(f, frame.f_lineno)
    return caller_of(f, call), lambda i: (X, i), None


@program(calls=12, captures=3)
def exception_raised_after_a_cut():
    def f(x, i):
        y = x * 2
        z = y + 1
        if i % 3 == 2:
            sys.intern("cut")
            raise ValueError(i)
        return z

    def call(x, i):
        try:
            return f(x, i)
        except ValueError as error:
            step = error.__traceback__.tb_next
            return line_in(f, step.tb_lineno), sorted(step.tb_frame.f_locals), step.tb_frame.f_locals["z"]
    return caller_of(f, call), lambda i: (X, i), None


@program(calls=12, captures=4)
def stacks_of_all_threads():
    def f(x):
        return (x * 2).sum()

    def call(x, i):
        go, ready = threading.Event(), threading.Event()

        def wait():
            f(x)
            ready.set()
            go.wait()
        thread = threading.Thread(target=wait)
        thread.start()
        ready.wait()
        y = f(x)
        frame = sys._current_frames()[thread.ident]
        names = [step.name for step in traceback.extract_stack(frame)]
        go.set()
        thread.join()
        return y, "wait" in names
    return caller_of(f, call), lambda i: (X, i), None


if __name__ == "__main__":
    main()
