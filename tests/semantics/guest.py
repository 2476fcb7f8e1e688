# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_CHAOS=p=0.3,seed=5
"""What others see of captured code: tracebacks, frames, tracers, warnings, threads, signals, coroutines, the collector."""
import asyncio
import contextvars
import copy
import functools
import gc
import inspect
import io
import pickle
import signal
import sys
import threading
import traceback
import types
import warnings
import weakref

import terra
from _harness import main, program

X = terra.arange(6.0).reshape(2, 3)
LIMIT = 5.0


def caller_of(f, call):
    """A program whose captured function is `f` and whose calls go through `call`."""
    call.target = f
    return call


def lines_of(error, f):
    """(function, line counted from its def) of a traceback, from `f` on inwards."""
    steps = [(step.name, step.lineno) for step in traceback.extract_tb(error.__traceback__)]
    first = f.__code__.co_firstlineno
    return [(name, line - first) for name, line in steps if name != "call" and name != "transcript"]


@program(calls=12, captures=3)
def line_numbers_of_a_raise():
    def f(x, n):
        y = x * 2
        if n % 4 == 3:
            raise ValueError(f"n is {n}")
        return y + n

    def call(x, n):
        try:
            return f(x, n)
        except ValueError as error:
            return str(error), lines_of(error, f)
    return caller_of(f, call), lambda i: (X, i), None


@program(calls=12, captures=2)
def line_numbers_in_an_inlined_callee():
    def inner(y, n):
        y = y + 1
        return y.reshape(n, -1)

    def f(x, n):
        y = inner(x, n)

        return y.sum()

    def call(x, n):
        try:
            return f(x, n)
        except RuntimeError as error:
            return type(error).__name__, lines_of(error, f)
    return caller_of(f, call), lambda i: (X, (2, 3, 4)[i % 3] if i > 5 else 2), None


@program(calls=12, captures=None)
def line_number_seen_inside():
    def f(x, items):
        try:
            return x + items[5]
        except IndexError as error:
            return x * 2, error.__traceback__.tb_lineno - f.__code__.co_firstlineno
    return f, lambda i: (X, [1.0] * (i % 8)), None


@program(calls=12, captures=None, reason=4)
def locals_of_the_frame():
    def f(x):
        y = x + 1
        z = 3
        return sorted(locals()), y, z
    return f, lambda i: (X,), None


@program(calls=12, captures=None)
def frames_of_the_stack():
    def f(x):
        y = x * 3
        frame = sys._getframe()
        return y, frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno, "y" in frame.f_locals
    return f, lambda i: (X,), None


@program(calls=8, captures=None)
def inspected_stack():
    def f(x):
        y = x * 3
        return y, [step.function for step in inspect.stack()[:2]]
    return f, lambda i: (X,), None


@program(calls=12, captures=3)
def callee_that_looks_at_its_caller():
    seen = []

    def spy():
        seen.append(sys._getframe(1).f_code.co_name)

    def f(x):
        return x * 2 + 1

    def call(x, i):
        if i % 3 == 2:
            spy()
        return f(x), list(seen)
    return caller_of(f, call), lambda i: (X, i), seen


@program(calls=12, captures=None)
def warnings_from_inside():
    def f(x, i):
        y = x + 1
        warnings.warn("careful")
        return y * i

    def call(x, i):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            y = f(x, i)
        return y, [(str(w.message), w.lineno - f.__code__.co_firstlineno) for w in caught]
    return caller_of(f, call), lambda i: (X, i), None


@program(calls=12, captures=2)
def warning_of_another_branch():
    def f(x, i):
        if i > 8:
            warnings.warn(f"i is {i}")
        return x * i

    def call(x, i):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            y = f(x, i)
        return y, [str(w.message) for w in caught]
    return caller_of(f, call), lambda i: (X, i), None


@program(calls=6, captures=None)
def recursion_without_end():
    def f(x, n):
        return f(x + 1, n + 1)

    def call(x):
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(200)
        try:
            return f(x, 0)
        except RecursionError as error:
            return type(error).__name__
        finally:
            sys.setrecursionlimit(limit)
    return caller_of(f, call), lambda i: (X,), None


@program(calls=12, captures=0)
def recursion_that_ends():
    def f(x, n):
        return x if n == 0 else f(x * 2, n - 1) + n
    return f, lambda i: (X, i % 4), None


@program(calls=12, captures=4)
def tracer_round_some_calls():
    def f(x, k):
        y = x * k
        return y + 1

    events = []

    def trace(frame, event, argument):
        if frame.f_code is f.__code__:
            events.append((event, frame.f_lineno - f.__code__.co_firstlineno))
        return trace

    def call(x, k, traced):
        if not traced:
            return f(x, k), len(events)
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            return f(x, k), len(events)
        finally:
            sys.settrace(before)
    return caller_of(f, call), lambda i: (X, 2, i in (1, 6, 9)), events


@program(calls=12, captures=4)
def profiler_round_some_calls():
    def g(y):
        return y.sum()

    def f(x):
        return g(x * 2)

    events = []

    def profile(frame, event, argument):
        if frame.f_code in (f.__code__, g.__code__) and event in ("call", "return"):
            events.append((event, frame.f_code.co_name))

    def call(x, profiled):
        if not profiled:
            return f(x)
        sys.setprofile(profile)
        try:
            return f(x)
        finally:
            sys.setprofile(None)
    return caller_of(f, call), lambda i: (X, i % 4 == 1), events


@program(calls=12, captures=None)
def tracer_set_inside():
    events = []

    def g(y):
        y = y + 1
        return y

    def trace(frame, event, argument):
        if frame.f_code is g.__code__:
            events.append((event, frame.f_lineno - g.__code__.co_firstlineno))
        return trace

    def f(x):
        y = x * 2
        sys.settrace(trace)
        y = g(y)
        sys.settrace(None)
        return g(y)
    return f, lambda i: (X,), events


@program(calls=12, captures=None)
def tracer_taken_out_inside():
    def f(x):
        y = x * 2
        sys.settrace(None)
        return y + 1, sys.gettrace()
    return f, lambda i: (X,), None


@program(calls=12, captures=3)
def coroutine_that_calls():
    def f(x, k):
        return (x * k).sum()

    async def step(x, k):
        await asyncio.sleep(0)
        return f(x, k)

    async def both(x, k):
        return await asyncio.gather(step(x, k), step(x, 1.0))

    return caller_of(f, lambda x, k: asyncio.run(both(x, k))), lambda i: (X, 2.0), None


@program(calls=12, captures=5)
def generator_suspended_across_calls():
    def f(x, k):
        return x + k

    def produce(x):
        k = 0.0
        while True:
            k += 1
            yield f(x, k)

    source = produce(X)
    return caller_of(f, lambda x: (f(x, -1.0), next(source))), lambda i: (X,), None


@program(calls=12, captures=5)
def decorated_with_wraps():
    def doubled(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs) * 2
        return wrapper

    @doubled
    def f(x, k=1):
        "adds k"
        return x + k

    def call(x):
        return f(x, k=3), f.__name__, f.__doc__, f.__wrapped__(x)
    return caller_of(f, call), lambda i: (X,), None


def at_module_level(x, k=2):
    return x * k - 1


@program(calls=12, captures=5)
def pickled_and_copied():
    def call(x):
        twin = pickle.loads(pickle.dumps(at_module_level))
        return at_module_level(x), twin is at_module_level, copy.copy(twin) is twin, copy.deepcopy(twin)(x, 5)
    return caller_of(at_module_level, call), lambda i: (X,), None


@program(calls=12, captures=2)
def code_replaced():
    def f(x, k=1):
        return x + k

    def g(x, k=1):
        return x - k

    codes = [f.__code__, g.__code__]

    def call(x, i):
        f.__code__ = codes[i // 6 % 2]
        f.__defaults__ = (i // 3,)
        return f(x)
    return caller_of(f, call), lambda i: (X, i), None


@program(calls=12, captures=4)
def global_rebound():
    def f(x):
        return x + LIMIT

    def call(x, i):
        globals()["LIMIT"] = float(i // 5)
        return f(x)
    return caller_of(f, call), lambda i: (X, i), None


@program(calls=12, captures=None)
def signal_raised_inside():
    seen = []

    def f(x, i):
        y = x * 2
        signal.raise_signal(signal.SIGUSR1)
        return y + len(seen)

    def call(x, i):
        before = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(i))
        try:
            return f(x, i)
        finally:
            signal.signal(signal.SIGUSR1, before)
    return caller_of(f, call), lambda i: (X, i), seen


@program(calls=12, captures=None)
def interrupt_raised_inside():
    def f(x, out):
        out.append(1)
        y = x * 2
        signal.raise_signal(signal.SIGINT)
        out.append(2)
        return y

    out = []

    def call(x):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            return f(x, out)
        except KeyboardInterrupt:
            return "interrupted", len(out)
        finally:
            signal.signal(signal.SIGINT, before)
    return caller_of(f, call), lambda i: (X,), out


@program(calls=12, captures=4)
def signal_handler_that_calls():
    def f(x, k):
        return (x * k).sum()

    seen = []

    def call(x, i):
        before = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(f(x, 3.0)))
        try:
            if i % 3 == 1:
                signal.raise_signal(signal.SIGUSR1)
            return f(x, 2.0)
        finally:
            signal.signal(signal.SIGUSR1, before)
    return caller_of(f, call), lambda i: (X, i), seen


@program(calls=12, captures=None)
def collector_asked_inside():
    def f(x):
        y = x + 1
        on = gc.isenabled()
        gc.collect()
        return y, on, gc.isenabled()
    return f, lambda i: (X,), None


@program(calls=12, captures=None)
def collector_switched_inside():
    def f(x):
        gc.disable()
        y = x + 1
        return y, gc.isenabled()

    def call(x):
        gc.enable()
        try:
            return f(x), gc.isenabled()
        finally:
            gc.enable()
    return caller_of(f, call), lambda i: (X,), None


@program(calls=12, captures=1, cut=True)
def collector_with_callbacks():
    def f(x, box):
        y = x + 1
        box.append(y)
        return y * 2

    phases = []

    def watch(phase, info):
        phases.append(phase)

    box = []

    def call(x, i):
        gc.callbacks.append(watch)
        try:
            y = f(x, box)
            if i % 4 == 3:
                gc.collect()
            return y, len(box)
        finally:
            gc.callbacks.remove(watch)
            phases[:] = sorted(set(phases))
    return caller_of(f, call), lambda i: (X, i), phases


@program(calls=12, captures=4)
def weak_reference_to_a_result():
    def f(x):
        return x * 2

    died = []

    def call(x):
        y = f(x)
        watcher = weakref.ref(y, lambda ref: died.append(1))
        alive = watcher() is y
        del y
        return alive, watcher() is None, len(died)
    return caller_of(f, call), lambda i: (X,), died


@program(calls=12, captures=None)
def value_of_a_context():
    scale = contextvars.ContextVar("scale", default=1.0)

    def f(x):
        return x * scale.get()

    def call(x, i):
        scale.set(float(i // 4))
        return f(x)
    return caller_of(f, call), lambda i: (X, i), None


@program(calls=12, captures=None)
def value_of_a_thread():
    local = threading.local()

    def f(x):
        return x * local.scale

    def call(x, i):
        local.scale = float(i // 4)
        return f(x)
    return caller_of(f, call), lambda i: (X, i), None


@program(calls=12, captures=None)
def thread_started_inside():
    seen = []

    def work(x):
        seen.append((x * 2).sum().item())

    def f(x):
        y = x + 1
        thread = threading.Thread(target=work, args=(y,))
        thread.start()
        thread.join()
        return y * len(seen)
    return f, lambda i: (X,), seen


@program(calls=12, captures=3)
def called_from_another_thread():
    def f(x, k):
        return x * k + 1

    def call(x, i):
        if i % 2:
            return f(x, 2)
        results = []
        thread = threading.Thread(target=lambda: results.append(f(x, 2)))
        thread.start()
        thread.join()
        return results
    return caller_of(f, call), lambda i: (X, i), None


@program(calls=12, captures=None)
def text_that_is_run():
    def f(x):
        names = {"x": x}
        exec("y = x + 1", names)
        return eval("y * 2", names)
    return f, lambda i: (X,), None


@program(calls=12, captures=0)
def exception_chain():
    def f(x, i):
        try:
            if i % 3 == 0:
                raise KeyError(i)
            return x * 2
        except KeyError as error:
            raise ValueError("outer") from error

    def call(x, i):
        try:
            return f(x, i)
        except ValueError as error:
            return repr(error.__cause__), repr(error.__context__), len(lines_of(error, f))
    return caller_of(f, call), lambda i: (X, i), None


@program(calls=12, captures=4)
def output_redirected():
    def f(x):
        return x * 2 + 1

    def call(x, i):
        out = io.StringIO()
        before, sys.stdout = sys.stdout, out
        try:
            print("before", i)
            y = f(x)
            print("after", y.sum().item())
        finally:
            sys.stdout = before
        return out.getvalue()
    return caller_of(f, call), lambda i: (X, i), None


@program(calls=12, captures=3)
def function_made_from_code():
    def f(x):
        return x * 2

    def call(x, i):
        twin = types.FunctionType(f.__code__, {"__builtins__": {}}, "twin")
        return f(x), twin(x), twin.__name__
    return caller_of(f, call), lambda i: (X, i), None


@program(calls=12, captures=3)
def object_copied_after_capture():
    class Model(terra.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = terra.nn.Parameter(terra.ones(3))
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x * self.scale

    model = Model()

    def call(x, i):
        if i % 4 == 3:
            twin = copy.deepcopy(model)
            return twin(x).detach(), twin.calls, model.calls
        return model(x).detach(), model.calls
    return caller_of(Model.forward, call), lambda i: (X, i), model


@program(calls=12, captures=0)
def small_switch_interval():
    def f(x, k):
        return (x + k).sum()

    def call(x):
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        results = [None] * 3
        def work(n):
            results[n] = [f(x, 2.0) for _ in range(3)]
        threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(before)
        return results
    return caller_of(f, call), lambda i: (X,), None


if __name__ == "__main__":
    main()
