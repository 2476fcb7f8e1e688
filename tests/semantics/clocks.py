# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Clocks that are read before all tensor work are read in every run; behind it the frame is cut."""
import time

import terra
from _harness import Bag, main, program


def t(i, n=3):
    return terra.arange(float(n)) + i


@program(calls=12, captures=8)
def first_of_the_frame():
    last = Bag(time=0.0, later=0)
    def f(x):
        now = time.perf_counter()
        last.later += now > last.time
        last.time = now
        return (x * 2).relu() + 1, last.later
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8, cut=True)
def each_run_reads_it():
    seen = []
    def f(x):
        seen.append(time.monotonic_ns())
        return x * 2 + 1
    def called(x):
        y = f(x)
        return y, len(seen), seen == sorted(seen), len(set(seen)) == len(seen)
    called.target = f
    return called, lambda i: (t(i),), None


@program(calls=12, captures=8)
def all_of_them():
    def f(x):
        whole = [time.time_ns(), time.monotonic_ns(), time.perf_counter_ns(), time.process_time_ns(), time.thread_time_ns()]
        parts = time.time(), time.monotonic(), time.perf_counter(), time.process_time(), time.thread_time()
        good = [abs(a - b * 1e9) < 1e9 for a, b in zip(whole, parts)]
        return x * 2, len(good), [type(n).__name__ for n in whole + list(parts)]
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8)
def decides_what_happens():
    o = Bag(start=time.time(), calls=0)
    def f(x):
        o.calls += 1
        if time.time() - o.start > 1e6:
            return x * 0
        return x * 2 + o.calls
    def args(i):
        if i == 9:
            o.start = 0.0
        return t(i),
    return f, args, None


@program(calls=12, captures=8)
def as_text():
    def f(x):
        stamp = f"{time.time() * 0:.1f}s"
        return x * 2, stamp, "at " + stamp
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8, cut=4)
def around_the_work():
    o = Bag(longest=0.0, rounds=0)
    def f(x):
        start = time.perf_counter()
        y = (x * 2).relu() + 1
        spent = time.perf_counter() - start
        o.longest = max(o.longest, spent)
        o.rounds += 1
        return y, 0 < spent < 100, o.rounds
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8, cut=4)
def in_a_decorator():
    good = []
    def timed(function):
        def inner(*args):
            start = time.perf_counter()
            try:
                return function(*args)
            finally:
                good.append(time.perf_counter() >= start)
        return inner
    @timed
    def step(x):
        return (x * 2).relu() + 1
    return step, lambda i: (t(i),), good


@program(calls=12, captures=None, reason=4)
def needed_as_a_constant():
    def f(x):
        return x * 2 + len("a" * (time.time() > 0))
    return f, lambda i: (t(i),), None


if __name__ == "__main__":
    main()
