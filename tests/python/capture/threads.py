# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=release=0@0
# run: TERRA_EXACT=1 TERRA_CHAOS=release=0@3
# timeout: 300
"""Graphs that take long let other threads go on; what those do to such a run is what they could have done to plain Python.

Nothing here rests on time: a thread shows that it ran during a graph by what it counted or wrote before the graph ended.
"""
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
import types
import weakref

import _terra_C as C
import terra
from _main import run_tests

N = 512
ROUNDS = 12
W = terra.randn(N, N) / N ** 0.5
X = terra.randn(N, N)
CHAOS = "TERRA_CHAOS" in os.environ


def chain(x, w):
    """Some fifty milliseconds of products."""
    for _ in range(ROUNDS):
        x = (x @ w).tanh()
    return x


def hits(f):
    return C.capture_frame(f)["hits"]


def cold(f):
    """f with code of its own that has never run: what it calls is not captured as a part of it."""
    return types.FunctionType(f.__code__.replace(), f.__globals__, f.__name__, f.__defaults__, f.__closure__)


def repeat(f, args, times):
    for _ in range(times):
        f(*args)


def warm(f, *args, times=8):
    """f is captured, and nothing that it calls."""
    terra.capture.reset()
    cold(repeat)(f, args, times)
    assert CHAOS or hits(f) > 0, C.capture_explain(f)


def same(a, b):
    return a.shape == b.shape and bool((a == b).all())


def one_of(result, *expected):
    return any(same(result, e) for e in expected)


class Running:
    """Calls f in a thread; `meanwhile` runs here, from before the call until it ends. A call that keeps the lock leaves
    room for one or two rounds of it."""

    def __init__(self, f, *args):
        self.f, self.args, self.result, self.error, self.done = f, args, None, None, False
        self.call = types.MethodType(cold(Running.call_once), self)

    def call_once(self):
        try:
            self.result = self.f(*self.args)
        except BaseException as error:
            self.error = error
        self.done = True

    def during(self, meanwhile, every=0.002):
        thread = threading.Thread(target=self.call)
        thread.start()
        rounds = 0
        while not self.done:
            time.sleep(every)
            if not self.done:
                rounds += 1
                meanwhile(rounds)
        thread.join()
        if self.error:
            raise self.error
        return self.result, rounds


def counting_during_a_run():
    """A thread that sleeps and counts goes on while another's graph computes, and so does one that never rests."""
    def f(x):
        return chain(x, W)
    warm(f, X)
    expected = f(X)
    result, rounds = Running(f, X).during(lambda k: None)
    assert same(result, expected)
    assert rounds >= 2 or CHAOS, rounds
    counts = [0]
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counts[0] += 1
    thread = threading.Thread(target=count)
    thread.start()
    seen = []
    for _ in range(5):
        before = counts[0]
        assert same(f(X), expected)
        seen.append(counts[0] - before)
    stop.set()
    thread.join()
    # A thread that only gets a switch interval (5 ms) in between counts the same each time, graph or not.
    before = counts[0]
    thread = threading.Thread(target=count)
    stop.clear()
    began = time.perf_counter()
    thread.start()
    time.sleep(0.01)  # or longer: the machine may be busy
    stop.set()
    thread.join()
    in_10_ms = (counts[0] - before) * 0.01 / (time.perf_counter() - began)
    assert max(seen) > in_10_ms or CHAOS, (seen, in_10_ms)


def counting_during_a_train_step():
    model = terra.nn.Sequential(terra.nn.Linear(N, N), terra.nn.Tanh(), terra.nn.Linear(N, N))
    optimizer = terra.optim.SGD(model.parameters(), lr=0.01)

    def step(x):
        for _ in range(4):
            x = model(x)
        loss = (x * x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss
    warm(step, X, times=12)
    total = 0
    for _ in range(4):
        total += Running(step, X).during(lambda k: None)[1]
    assert total >= 8 or CHAOS, total


def counting_during_a_backward():
    """The pair of a forward and a backward graph: the backward lets go as well."""
    def forward(x, w):
        return chain(x, w).sum()
    w = (W * 1.0).requires_grad_()
    for _ in range(6):
        forward(X, w).backward()
    w.grad = None
    forward(X, w).backward()
    expected = w.grad.clone()
    loss = forward(X, w)
    w.grad = None
    _, rounds = Running(loss.backward).during(lambda k: None)
    assert same(w.grad, expected)
    assert rounds >= 4 or CHAOS, rounds


def counting_during_a_run_that_draws():
    """Dropout: the numbers come from copies of the generator."""
    def f(x):
        return terra.nn.functional.dropout(chain(x, W), 0.5, True)
    terra.manual_seed(3)
    warm(f, X)
    terra.manual_seed(4)
    expected = [f(X) for _ in range(3)]
    terra.manual_seed(4)
    total = 0
    for e in expected:
        result, rounds = Running(f, X).during(lambda k: None)
        assert same(result, e)
        total += rounds
    assert total >= 8 or CHAOS, total


def counting_during_eager_products():
    big = terra.randn(4 * N, 4 * N)
    with terra.capture.mode("off"):
        for _ in range(2):
            expected = big @ big
        total = 0
        for _ in range(3):
            result, rounds = Running(lambda: big @ big).during(lambda k: None)
            assert same(result, expected)
            total += rounds
    assert total >= 8, total


def operands_changed_during_eager_products():
    """Other sizes, other memory: the kernel goes on with what it began with."""
    big, other = terra.randn(4 * N, 4 * N), terra.zeros(8)
    with terra.capture.mode("off"):
        for _ in range(2):
            expected = big @ big
        for _ in range(3):
            left = big.clone()

            def change(k):
                left.data = other
                terra.zeros(4 * N, 4 * N)
            result, _ = Running(lambda: left @ big).during(lambda k: change(k) if k == 1 else None)
            assert same(result, expected)
            assert left.shape == other.shape


def threads_in_one_function():
    """Several threads that call one captured function take turns at its graph."""
    def f(x, k):
        return chain(x, W) * k
    warm(f, X, 2.0)
    warm(f, X, 3.0)
    expected = [f(X, float(k)) for k in range(4)]
    wrong = []

    def work(k):
        for _ in range(4):
            if not same(f(X, float(k)), expected[k]):
                wrong.append(k)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong


def threads_in_different_functions():
    made = []
    for k in range(3):
        def f(x, k=k):
            return chain(x + k, W)
        warm(f, X)
        made.append((f, f(X)))
    wrong = []

    def work(f, expected):
        for _ in range(4):
            if not same(f(X), expected):
                wrong.append(f)
    threads = [threading.Thread(target=work, args=pair) for pair in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong


def parameter_written_during_a_run():
    """An in-place write in the middle: the result is that of the old or of the new numbers, never of both."""
    w = W * 1.0

    def f(x):
        return chain(x, w) + chain(x, w)
    warm(f, X)
    before = f(X)
    with terra.no_grad():
        w.mul_(0.5)
    after = f(X)
    for _ in range(3):
        with terra.no_grad():
            w.mul_(2.0)
        result, rounds = Running(f, X).during(lambda k: w.mul_(0.5) if k == 2 else None)
        if rounds < 2:
            w.mul_(0.5)
        assert one_of(result, before, after)


def storage_replaced_during_a_run():
    """x.data = y and set_ take the memory away that the graph reads."""
    p = terra.nn.Parameter(W * 1.0)

    def f(x):
        with terra.no_grad():
            return chain(x, p)
    warm(f, X)
    before = f(X)

    def replace(k):
        p.data = W * 0.5
        gc.collect()
        terra.zeros(N, N), terra.ones(N, N)
    p.data = W * 0.5
    after = f(X)
    for _ in range(3):
        p.data = W * 1.0
        result, _ = Running(f, X).during(replace)
        assert one_of(result, before, after)


def argument_dies_during_a_run():
    """The last other references to what the graph reads go while it reads."""
    class Box:
        pass
    box = Box()
    box.w = W * 1.0

    def f(x):
        return chain(x, box.w)
    warm(f, X)
    before = f(X)
    other = W * 0.5
    box.w = other
    after = f(X)
    for _ in range(3):
        box.w = W * 1.0
        gone = weakref.ref(box.w)

        def replace(k):
            box.w = other
            terra.zeros(N, N), terra.ones(N, N)
        result, rounds = Running(f, X).during(replace)
        assert one_of(result, before, after)
        assert gone() is None or not rounds  # a run that was overtaken twice keeps the lock


def facts_changed_during_a_run():
    """Attributes, list items, dict keys and globals that guards rest on."""
    class Config:
        scale = 1.0
    config, layers, table = Config(), [W, W], {"k": 1.0}
    changes = [
        (lambda: setattr(config, "scale", 2.0), lambda: delattr(config, "scale")),
        (lambda: layers.append(W), lambda: layers.pop()),
        (lambda: layers.__setitem__(1, X), lambda: layers.__setitem__(1, W)),
        (lambda: table.__setitem__("k", 3.0), lambda: table.__setitem__("k", 1.0)),
    ]

    def f(x):
        for w in layers:
            x = chain(x, w)
        return x * config.scale * table["k"]
    warm(f, X)
    before = f(X)
    for change, undo in changes:
        change()
        warm(f, X)
        after = f(X)
        undo()
        f(X)
        result, _ = Running(f, X).during(lambda k: change() if k == 1 else None)
        assert one_of(result, before, after), C.capture_explain(f)
        change() if one_of(f(X), before) else None
        undo()
        assert same(f(X), before)


def counter_changed_during_a_run():
    """What the frame reads, changes and writes back: no write of the other thread is lost, none is done twice."""
    box = {"n": 0.0}
    seen = []

    def f(x):
        box["n"] += 1.0
        return chain(x, W) * 0 + box["n"]
    warm(f, X)
    box["n"] = 0.0

    def add(k):
        box["n"] += 1000.0
        seen.append(k)
    calls = 4
    for _ in range(calls):
        Running(f, X).during(add)
    assert box["n"] == calls + 1000.0 * len(seen), (box, len(seen))


def gradient_cleared_during_a_run():
    """`.grad` that a captured step accumulates into goes away under it."""
    w = (W * 1.0).requires_grad_()

    def step(x):
        chain(x, w).sum().backward()
    w.grad = None
    step(X)
    once = w.grad.clone()
    for _ in range(8):
        w.grad = terra.zeros(N, N)
        step(X)
    for _ in range(3):
        w.grad = terra.ones(N, N)

        def clear(k):
            w.grad = None
        Running(step, X).during(clear)
        # Cleared before the step as a whole, during it (eager), or never.
        assert w.grad is None or one_of(w.grad, once, once + 1)


def two_trainers_of_one_model():
    """Steps of two threads on the same parameter: each happens as a whole, in some order."""
    w = terra.zeros(N, N, dtype=terra.float64)
    other = W.double()

    def step(k):
        y = chain(other, other).sum() * 0.0
        w.add_(y + k)
        return y
    for _ in range(8):
        step(1.0)
        step(2.0)
    w.zero_()
    threads = [threading.Thread(target=lambda k=k: [step(k) for _ in range(6)]) for k in (1.0, 2.0, 4.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert same(w, terra.full((N, N), 42.0, dtype=terra.float64)), w[0, 0]


def random_numbers_of_two_threads():
    """No draw is lost and none is given out twice."""
    def f(x):
        return chain(x, W) * 0 + terra.rand(8, 1)[0]
    warm(f, X)
    terra.manual_seed(5)
    numbers = [terra.rand(8, 1)[0].item() for _ in range(64)]
    terra.manual_seed(5)
    mine, others = [], []
    for _ in range(3):
        result, _ = Running(f, X).during(lambda k: others.append(terra.rand(8, 1)[0].item()) if len(others) < 40 else None)
        mine.append(result[0, 0].item())
    drawn = mine + others
    assert sorted(drawn) == sorted(numbers[:len(drawn)]), (len(mine), len(others))


def python_random_numbers():
    def f(x):
        return chain(x, W) * 0 + random.random()
    warm(f, X)
    random.seed(3)
    numbers = [random.random() for _ in range(64)]
    random.seed(3)
    mine, others = [], []
    for _ in range(3):
        result, _ = Running(f, X).during(lambda k: others.append(random.random()) if len(others) < 40 else None)
        mine.append(result[0, 0].item())
    drawn = mine + others
    expected = sorted(terra.tensor(numbers[:len(drawn)]).tolist())
    assert sorted(terra.tensor(drawn).tolist()) == expected


def indices_changed_during_a_run():
    """Indices that become wrong after the kernel has checked them: nothing outside the table is ever read."""
    table = terra.randn(1000, 64)
    where = terra.arange(1000)

    def f(x, where):
        total = chain(x, W).sum() * 0
        for _ in range(200):
            total = total + table[where].sum()
        return total
    warm(f, X, where)
    before = f(X, where)
    view = where.numpy() if hasattr(where, "numpy") else None

    def spoil(k):
        if view is not None:
            view[:] = 10 ** 12 if k % 2 else range(1000)
    try:
        result, _ = Running(f, X, where).during(spoil, every=0.0005)
        assert result.item() == before.item()
    except IndexError:
        pass


def exceptions():
    """An op that refuses its values in the middle of a released run: the frame raises by itself."""
    table = terra.randn(10, N)

    def f(x, where):
        return chain(x, W)[0] + table[where]
    good = terra.tensor([1])
    warm(f, X, good)
    for _ in range(3):
        try:
            Running(f, X, terra.tensor([10])).during(lambda k: None)
        except IndexError as error:
            assert "out of" in str(error), error
        else:
            raise AssertionError("no IndexError")
        assert Running(f, X, good).during(lambda k: None)[0].shape == (1, N)


def interrupted():
    """Ctrl-C while the main thread's graph runs without the lock, and while another thread's does."""
    state = {"n": 0}

    def f(x):
        state["n"] += 1
        return chain(x, W)
    warm(f, X)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for _ in range(3):
            done = state["n"]
            calls = 0
            timer = threading.Timer(0.03, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            try:
                while calls < 10000:
                    f(X)
                    calls += 1
            except KeyboardInterrupt:
                assert state["n"] - done in (calls, calls + 1), (state["n"] - done, calls)
            else:
                raise AssertionError("nobody was interrupted")
            timer.join()
        running = Running(f, X)
        try:
            running.during(lambda k: os.kill(os.getpid(), signal.SIGINT) if k == 1 else None)
            time.sleep(0.01)
        except KeyboardInterrupt:
            while not running.done:
                time.sleep(0.001)
        assert running.result is not None
    finally:
        signal.signal(signal.SIGINT, before)


def waiting_is_interrupted():
    """The main thread waits for another thread's run of the same graph: a handler runs before that is over, or soon after."""
    def f(x):
        return chain(x, W)
    warm(f, X)
    expected = f(X)
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    try:
        other = Running(f, X)
        thread = threading.Thread(target=other.call)
        thread.start()
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        assert same(f(X), expected)
        thread.join()
        assert seen == [1] and same(other.result, expected)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def forked_during_a_run():
    """A child of a process whose other thread computes: that thread isn't there, its graph can't go on, and all works."""
    def f(x):
        return chain(x, W)
    warm(f, X)
    expected = f(X)
    statuses = []

    def fork(k):
        if k not in (2, 4):
            return
        child = os.fork()
        if child == 0:
            status = 1
            try:
                signal.alarm(60)
                w = (W * 1.0).requires_grad_()
                y = chain(X[:8], w).sum()
                y.backward()
                again = all(same(f(X), expected) for _ in range(2))
                status = 0 if again and w.grad is not None else 2
            finally:
                os._exit(status)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    result, _ = Running(f, X).during(fork)
    assert same(result, expected)
    assert statuses in ([0], [0, 0]) or CHAOS, statuses


def subprocess_during_a_run():
    def f(x):
        return chain(x, W)
    warm(f, X)
    expected = f(X)
    outputs = []

    def start(k):
        if k == 2:
            outputs.append(subprocess.run(["echo", "hello"], capture_output=True, text=True).stdout)
    result, rounds = Running(f, X).during(start)
    assert same(result, expected)
    assert outputs == ["hello\n"] or rounds < 2


def run(code, **variables):
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
                             env=os.environ | variables)
    assert process.returncode == 0, (process.returncode, process.stderr[-2000:])
    assert not process.stderr, process.stderr[-2000:]
    return process.stdout


def exit_during_a_run():
    """The program ends while daemon threads compute without the lock: they never come back, and nothing else happens."""
    code = ("import threading, time, terra\n"
            f"w = terra.randn({N}, {N}) / {N} ** 0.5\n"
            "class Noisy:\n    def __del__(self):\n        pass\n"
            f"def f(x):\n    for _ in range({ROUNDS}):\n        x = (x @ w).tanh()\n    return x\n"
            "for _ in range(8):\n    f(w)\n"
            "ready = threading.Semaphore(0)\n"
            "def loop(n):\n    noisy = Noisy()\n    ready.release()\n    while True:\n        f(w)\n"
            "for n in range(3):\n    threading.Thread(target=loop, args=(n,), daemon=True).start()\n"
            "for n in range(3):\n    ready.acquire()\n"
            "time.sleep(%f)\nprint('end')\n")
    for moment in (0.0, 0.01, 0.05):
        assert run(code % moment) == "end\n"


def exit_during_recordings():
    """The same where C++ frames of the recorder lie below Python frames that give up the lock."""
    code = ("import random, sys, threading, time\n"
            "seen = set()\n"
            "class Kept:\n    def __init__(self, n):\n        self.n, self.more = n, [n] * 3\n"
            "def pause(kept):\n    time.sleep(random.random() / 2000)\n    return [kept, Kept(kept.n + 1)]\n"
            "def loop():\n    while True:\n        pause(Kept(1))\n        seen.add(threading.get_ident())\n"
            "for n in range(40):\n    threading.Thread(target=loop, daemon=True).start()\n"
            "while len(seen) < 40:\n    time.sleep(0.001)\n"
            "sys.exit(0)\n")
    for _ in range(8):
        assert run(code, TERRA_CAPTURE="stress") == ""


def exit_waits_for_threads():
    code = ("import threading, terra\n"
            f"w = terra.randn({N}, {N}) / {N} ** 0.5\n"
            f"def f(x):\n    for _ in range({ROUNDS}):\n        x = (x @ w).tanh()\n    return x\n"
            "for _ in range(8):\n    f(w)\n"
            "threading.Thread(target=lambda: print(f(w).shape)).start()\nprint('main')\n")
    assert sorted(run(code).splitlines()) == ["main", f"torch.Size([{N}, {N}])"]


def backward_in_another_thread():
    """Forward here, backward there, and the other way round, on one pair at once."""
    def forward(x, w):
        return chain(x, w).sum()
    w = (W * 1.0).requires_grad_()
    for _ in range(6):
        forward(X, w).backward()
    w.grad = None
    forward(X, w).backward()
    expected = w.grad.clone()
    leaves = [(W * 1.0).requires_grad_() for _ in range(3)]
    losses = [forward(X, leaf) for leaf in leaves]
    threads = [threading.Thread(target=loss.backward) for loss in losses]
    for thread in threads:
        thread.start()
    more = forward(X, w)
    for thread in threads:
        thread.join()
    assert all(same(leaf.grad, expected) for leaf in leaves)
    w.grad = None
    more.backward()
    assert same(w.grad, expected)


def saved_tensor_written_during_a_backward():
    """Refused as plain PyTorch refuses it, or computed from the old numbers."""
    def forward(x, w):
        return chain(x, w).sum()
    w = (W * 1.0).requires_grad_()
    for _ in range(6):
        forward(X, w).backward()
    w.grad = None
    forward(X, w).backward()
    expected = w.grad.clone()
    for _ in range(3):
        w.grad = None
        loss = forward(X, w)

        def write(k):
            if k == 1:
                with terra.no_grad():
                    w.mul_(1.0)
        try:
            Running(loss.backward).during(write)
        except RuntimeError as error:
            assert "modified by an inplace operation" in str(error)
        else:
            assert same(w.grad, expected)


def collector_during_runs():
    """The collector runs in another thread over all that released runs hold."""
    class Node:
        pass

    def f(x):
        node = Node()
        node.me, node.x = node, chain(x, W)
        return node
    warm(f, X)
    expected = f(X).x
    for _ in range(3):
        result, _ = Running(f, X).during(lambda k: gc.collect())
        assert same(result.x, expected) and result.me is result


tests = [test for name, test in list(globals().items())
         if callable(test) and getattr(test, "__module__", None) == "__main__" and not isinstance(test, type)
         and name not in ("chain", "hits", "cold", "repeat", "warm", "same", "one_of", "run")]

if __name__ == "__main__":
    run_tests(tests)
