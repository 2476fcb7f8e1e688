# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 --capture=stress
# run: TERRA_EXACT=1 --capture=verify
# timeout: 240
"""Threads, processes, signals, tracers and foreign hooks round captured functions; what can't be told in a transcript."""
import atexit
import faulthandler
import gc
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import terra
from _main import run_tests

X = terra.arange(6.0).reshape(2, 3)
W = terra.ones(3, requires_grad=True)
W2 = terra.ones(3, requires_grad=True)


def scaled(x, k):
    return (x * k + 1).sum()


def loss_of(x, w):
    return (x * w).exp().sum()


def counting(box, x):
    box["n"] += 1
    return x * box["n"]


def warm():
    for _ in range(8):
        scaled(X, 2.0)
        loss_of(X, W)


def plain_scaled(k):
    return (15.0 * k + 6.0)


def many_threads_one_function():
    """Each thread gets its own results, whatever the interpreter switches between."""
    warm()
    wrong = []
    barrier = threading.Barrier(6)

    def work(k):
        x = X * 1.0
        barrier.wait()
        for _ in range(150):
            if scaled(x, k).item() != plain_scaled(k):
                wrong.append(k)
            w = terra.full((3,), float(k), requires_grad=True)
            loss = loss_of(x * 0, w)
            loss.backward()
            if loss.item() != 6.0 or w.grad.tolist() != [0.0, 0.0, 0.0]:
                wrong.append(("grad", k, loss.item(), w.grad))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(before)
    assert not wrong, wrong[:5]


def one_box_for_many_threads():
    """Under the interpreter's lock a captured `n += 1` is never torn: a served call is one step."""
    box = {"n": 0}
    for _ in range(8):
        counting(box, X)
    threads = [threading.Thread(target=lambda: [counting(box, X) for _ in range(200)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 8 < box["n"] <= 808, box


def thread_that_starts_during_a_recording():
    results = []

    def watched(x):
        y = x + 1
        thread = threading.Thread(target=lambda: results.append(scaled(x, 3.0).item()))
        thread.start()
        thread.join()
        return y * 2
    for _ in range(8):
        assert watched(X).sum().item() == 42.0
    assert results == [plain_scaled(3.0)] * 8


def recorded_while_others_call():
    """Threads that switch at nearly every instruction, all in functions that nobody has called before."""
    wrong = []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for n in range(15):
            def fresh(x, box, n=n):
                y = x * n
                for i in range(4):
                    y = y + i
                    box.append(i)
                box[-1] = len(box)
                return y.sum()

            def work(boxes, fresh=fresh, n=n):
                for _ in range(12):
                    box = []
                    boxes.append((fresh(X, box).item(), box, n))
            seen = [[] for _ in range(4)]
            threads = [threading.Thread(target=work, args=(boxes,)) for boxes in seen]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            wrong += [got for boxes in seen for got in boxes if got != (15.0 * n + 36, [0, 1, 2, 4], n)]
    finally:
        sys.setswitchinterval(before)
    assert not wrong, wrong[:3]


def fork_after_captures():
    warm()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for k in (2.0, 5.0):
                assert scaled(X, k).item() == plain_scaled(k)
            loss_of(X, W2).backward()
            os.write(writer, b"good")
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    assert os.read(reader, 10) == b"good"
    os.close(reader)
    assert os.waitpid(child, 0)[1] == 0
    assert scaled(X, 2.0).item() == plain_scaled(2.0)


def in_a_process(k):
    return [scaled(X, k).item() for _ in range(8)]


def processes(method):
    def test():
        warm()
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(in_a_process, [1.0, 2.0, 3.0]) == [[plain_scaled(k)] * 8 for k in (1.0, 2.0, 3.0)]
    test.__name__ = f"processes_{method}"
    return test


def interrupted_from_outside():
    """Ctrl-C while captured calls run: KeyboardInterrupt, at once, and everything goes on afterwards."""
    warm()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    main = os.getpid()
    try:
        for delay in (0.01, 0.03):
            timer = threading.Timer(delay, lambda: os.kill(main, signal.SIGINT))
            end = time.monotonic() + 20
            try:
                timer.start()
                while time.monotonic() < end:
                    assert scaled(X, 2.0).item() == plain_scaled(2.0)
            except KeyboardInterrupt:
                pass
            else:
                raise AssertionError("nobody was interrupted")
            timer.join()
            assert scaled(X, 2.0).item() == plain_scaled(2.0)
    finally:
        signal.signal(signal.SIGINT, before)


def alarms():
    """A handler that calls captured functions itself, at any moment."""
    warm()
    seen = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: seen.append(scaled(X, 4.0).item()))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    end = time.monotonic() + 10
    try:
        while len(seen) < 30 and time.monotonic() < end:
            assert scaled(X, 2.0).item() == plain_scaled(2.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(seen) >= 30 and set(seen) == {plain_scaled(4.0)}


def alarm_in_a_long_run():
    """A signal ends the captured run that it comes into: its handler runs at once, before or after the call as a whole."""
    class Timeout(Exception):
        pass

    def on_alarm(number, frame):
        raise Timeout

    count, total = {"n": 0}, terra.zeros(1)
    a = terra.ones(400, 400) / 400

    def long(a):
        count["n"] += 1
        y = a
        for _ in range(60):
            y = (y @ a).tanh()
        total.add_(1)
        return y

    for _ in range(6):
        long(a)
    start = time.monotonic()
    long(a)
    takes = time.monotonic() - start
    before = signal.signal(signal.SIGALRM, on_alarm)
    interrupted = 0
    try:
        for part in (0.2, 0.5, 0.8):
            signal.setitimer(signal.ITIMER_REAL, takes * part)
            try:
                for _ in range(50):
                    long(a)
            except Timeout:
                interrupted += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            # The interpreter may be interrupted between the two, a captured call never is.
            assert count["n"] - total.item() in (0, 1), (count, total)
            count["n"] = int(total.item())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupted == 3
    long(a)
    assert count["n"] == total.item()


def handler_that_changes_what_is_read():
    """Each call sees the world either before a handler or after it, with all that the handler changed."""
    world = {"a": 1.0, "b": 1.0, "text": "1.0", (1, 2): [1.0], "long": 1 << 70}

    def change(number, frame):
        world["a"] += 1.0
        world["b"] = world["a"]
        world["text"] = str(world["a"])
        world[1, 2] = [world["a"]]
        world["long"] += 1 << 70

    def make():
        def reads(x):
            text = f"{world['b']!r} {world['text']}"
            product = world["long"] * world["long"]
            return (x * world["a"]).sum() - (x * world["b"]).sum(), text, product, world[1, 2][0]
        return reads

    before = signal.signal(signal.SIGALRM, change)
    signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
    end = time.monotonic() + 20
    try:
        while world["a"] < 300 and time.monotonic() < end:
            reads = make()
            for _ in range(30):
                # Interpreted it may be torn apart between its reads: by one step of the handler, or by a few under load.
                difference, text, product, last = reads(X)
                seen = [float(part) for part in text.split()] + [last]
                assert difference.item() % 15.0 == 0 and max(seen) - min(seen) < 50, (difference, seen)
                assert product % (1 << 140) == 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert world["a"] >= 300


def fork_while_others_run():
    warm()
    stop = threading.Event()

    def work(k):
        while not stop.is_set():
            assert scaled(X, k).item() == plain_scaled(k)
    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    for _ in range(20):
                        assert scaled(X, 5.0).item() == plain_scaled(5.0)
                    status = 0
                finally:
                    os._exit(status)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def dumped_by_a_watchdog():
    """faulthandler's own thread reads our frames while a graph runs. (Not while frames come and go: it takes no lock, and
    CPython 3.11 keeps the head of a thread's frames on the C stack, where a call may have overwritten it.)"""
    def long(a):
        for _ in range(12):
            a = (a @ a) * 0.01
        return a.sum()

    a = terra.ones(384, 384)
    expected = [long(a).item() for _ in range(6)][0]
    with tempfile.TemporaryFile() as file:
        for _ in range(5):
            begin = time.monotonic()
            assert long(a).item() == expected
            faulthandler.dump_traceback_later((time.monotonic() - begin) / 2, file=file)
            assert long(a).item() == expected
            faulthandler.cancel_dump_traceback_later()
        file.seek(0)
        assert b"in dumped_by_a_watchdog" in file.read()


def writer_that_overtakes_readers():
    """What one thread changes under the interpreter's lock another sees as a whole or not at all."""
    box = {"x": terra.zeros(64, 64), "k": 0.0}
    stop = threading.Event()
    wrong = []

    def reads():
        x = box["x"]
        return (x @ x).sum() - (x @ x).sum(), x.sum() * 0 + box["k"]

    def write():
        k = 0.0
        while not stop.is_set():
            k += 1.0
            box["x"] = terra.full((64, 64), k)
            box["k"] = k
    for _ in range(8):
        reads()
    thread = threading.Thread(target=write)
    thread.start()
    before = -1.0
    for _ in range(300):
        difference, k = reads()
        if difference.item() != 0 or k.item() < before:
            wrong.append((difference, k))
        before = k.item()
    stop.set()
    thread.join()
    assert not wrong, wrong[:3]


def tracer_sees_every_line():
    """Under sys.settrace and sys.setprofile captured functions run plainly, and are served again afterwards."""
    warm()
    lines, calls = [], []

    def trace(frame, event, argument):
        if frame.f_code is scaled.__code__:
            lines.append((event, frame.f_lineno - scaled.__code__.co_firstlineno))
        return trace

    def profile(frame, event, argument):
        if frame.f_code is scaled.__code__:
            calls.append(event)
    sys.settrace(trace)
    scaled(X, 2.0)
    sys.settrace(None)
    assert lines == [("call", 0), ("line", 1), ("return", 1)], lines
    sys.setprofile(profile)
    scaled(X, 2.0)
    sys.setprofile(None)
    assert calls[0] == "call" and calls[-1] == "return", calls
    before = terra.capture.stats()["replays"]
    scaled(X, 2.0)
    assert terra.capture.stats()["replays"] > before


def dumped_by_faulthandler():
    warm()
    with tempfile.TemporaryFile() as file:
        def dumping(x):
            y = x * 2
            faulthandler.dump_traceback(file)
            return y
        for _ in range(6):
            dumping(X)
        file.seek(0)
        assert file.read().count(b"in dumping") == 6


def audited():
    """Run in a process of its own: audit hooks stay for good."""
    code = ("import sys\nseen = []\nsys.addaudithook(lambda event, arguments: seen.append(event))\n"
            "import terra\ndef f(x):\n    return x * 2\nx = terra.ones(2)\nfor _ in range(9):\n    f(x)\n"
            "assert 'import' in seen and f(x).tolist() == [2.0, 2.0]\n"
            "assert 'sys.settrace' not in seen, 'the recorder traces, not the program'\n"
            "assert terra.capture.stats()['replays'] > 0, terra.explain(f)\nprint('good')\n")
    assert run(code) == "good\n"


def marks():
    """No frame keeps marks of a recording that has stopped."""
    code = ("import gc, sys\nimport terra\nx = terra.ones(2)\n"
            "def inner():\n    y = x + 1\n    gc.get_threshold()\n    frame = sys._getframe()\n"
            "    return frame.f_trace_opcodes, frame.f_trace_lines\n"
            "def outer():\n    return inner()\n"
            "for _ in range(20):\n    assert outer() == (False, True)\nprint('good')\n")
    assert run(code) == "good\n"


def audit_hook_that_refuses_tracing():
    """It is not asked about the recorder's, which sees what it sees whether tracing is allowed or not."""
    code = ("import sys\ndef hook(event, arguments):\n    if event == 'sys.settrace':\n        raise RuntimeError('no')\n"
            "sys.addaudithook(hook)\nimport terra\ndef f(x):\n    return x * 2\nx = terra.ones(2)\n"
            "for _ in range(9):\n    assert f(x).tolist() == [2.0, 2.0]\n"
            "assert terra.capture.stats()['replays'] > 0\nprint('good')\n")
    assert run(code) == "good\n"


def run(code, *options, **variables):
    process = subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True,
                             env=os.environ | variables)
    assert process.returncode == 0, process.stderr
    return process.stdout


def at_exit():
    code = ("import atexit, terra\ndef f(x):\n    return (x * 2).sum()\nx = terra.ones(2)\n"
            "atexit.register(lambda: print(f(x).item(), f(x).item()))\n"
            "for _ in range(9):\n    f(x)\nprint('end')\n")
    assert run(code) == "end\n4.0 4.0\n"


def daemon_thread_at_exit():
    code = ("import threading, terra\ndef f(x):\n    return (x * 2).sum()\nx = terra.ones(2)\n"
            "def loop():\n    while True:\n        f(x)\n"
            "threading.Thread(target=loop, daemon=True).start()\n"
            "for _ in range(300):\n    f(x)\nprint('end')\n")
    assert run(code) == "end\n"


def recursion_while_recorded():
    for depth in (50, 150):
        code = (f"import sys, terra\nsys.setrecursionlimit({depth})\ndef f(x, n):\n    return f(x + 1, n + 1)\n"
                "x = terra.ones(2)\nfor _ in range(9):\n    try:\n        f(x, 0)\n    except RecursionError as error:\n"
                "        pass\n    else:\n        raise SystemExit('no RecursionError')\nprint('good')\n")
        assert run(code) == "good\n"


def deep_recursion_without_limit():
    """Deeper than any C stack. The limit is for memory: where the hook has stepped aside, frames need no C stack."""
    code = ("import sys, terra\nsys.setrecursionlimit(3 * 10**6)\ndef f(x, n):\n    return f(x, n + 1)\nx = terra.ones(2)\n"
            "for _ in range(3):\n    try:\n        f(x, 0)\n    except RecursionError:\n        pass\nprint('good')\n")
    assert run(code) == "good\n"


def pickled():
    warm()
    twin = pickle.loads(pickle.dumps(scaled))
    assert twin is scaled and twin(X, 2.0).item() == plain_scaled(2.0)


def collected_at_any_moment():
    """With a collection at nearly every allocation and callbacks that call captured functions."""
    warm()
    seen = []

    def watch(phase, info):
        if phase == "stop" and len(seen) < 50:
            seen.append(scaled(X, 4.0).item())
    before = gc.get_threshold()
    gc.callbacks.append(watch)
    gc.set_threshold(1)
    try:
        for i in range(60):
            def fresh(x, i=i):
                return [x * i, {"k": x + 1}]
            for _ in range(5):
                assert fresh(X)[0].sum().item() == 15.0 * i
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(watch)
    assert seen and set(seen) == {plain_scaled(4.0)}


tests = [many_threads_one_function, recorded_while_others_call, one_box_for_many_threads,
         thread_that_starts_during_a_recording, fork_after_captures, processes("fork"), processes("spawn"),
         interrupted_from_outside, alarms, alarm_in_a_long_run, handler_that_changes_what_is_read,
         fork_while_others_run, dumped_by_a_watchdog, writer_that_overtakes_readers, tracer_sees_every_line,
         dumped_by_faulthandler, audited, marks, audit_hook_that_refuses_tracing, at_exit,
         daemon_thread_at_exit, recursion_while_recorded, deep_recursion_without_limit, pickled,
         collected_at_any_moment]

if os.environ.get("TERRA_BUILD", "").endswith("tsan"):
    tests.remove(deep_recursion_without_limit)  # the thread sanitizer itself has room for 65,536 calls

if __name__ == "__main__":
    run_tests(tests)
