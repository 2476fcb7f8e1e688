# run: TERRA_EXACT=1 TERRA_STRICT=0
"""The engine checks itself: whatever is made wrong in one way of serving (TERRA_CHAOS=spoil, forget) is found at the
first replay by that way, the program gets the interpreter's result, and the function goes. What is right passes."""
import gc
import io
import itertools
import os
import random
import signal
import threading
import time
import weakref
import _thread

import terra
import _terra_C as C

DIFFERS = 30
CALLS = 30
passed = 0


def environment(check, chaos="", capture="auto", strict="0"):
    os.environ |= {"TERRA_SELF_CHECK": check, "TERRA_CHAOS": chaos, "TERRA_CAPTURE": capture, "TERRA_STRICT": strict}
    C.capture_start()


def plain(value):
    """Numbers in the place of tensors: not in the functions below, which would end there."""
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value.tolist() if isinstance(value, terra.Tensor) else value


def work_for_account():
    """Until a check is sure to be affordable: waiting earns nothing."""
    spent = terra.capture.stats()["self_check_ms"]
    while max(time.process_time(), 0.25) * 20 - spent < 15:
        pass


def run(make, check, chaos="", capture="auto", calls=CALLS, strict="0"):
    """What `calls` calls give, and by how much the counters moved; with the frames of the report. `make` gives the
    function, the arguments of call i, and what is to be looked at after it. C code calls the function: no frame of the
    test can be captured in its place."""
    environment("off", capture="off")
    C.capture_reset()
    f, arguments, after = make()
    calls = itertools.starmap(f, [arguments(i) for i in range(calls)])
    if check == "on":
        work_for_account()
    environment(check, chaos, capture, strict)
    before = terra.capture.stats()
    results = []
    for i, result in enumerate(calls):
        C.capture_mode("off")
        results.append(plain(after(i, result)))
        C.capture_mode(capture)
    counters = terra.capture.stats()
    environment("off", capture="off")
    moved = {name: counters[name] - before[name] for name in ("wrong", "self_checks", "self_check_ms", "replays")}
    return results, moved, counters["frames"]


def the_result(i, result):
    return result


def check(make, chaos, too_late=0):
    """Under fault injection: wrong results without checks, and with them those of plain Python, but for the first
    `too_late` in auto."""
    global passed
    plain, *_ = run(make, "off", capture="off")
    unchecked, moved, _ = run(make, "off", chaos)
    assert moved["self_checks"] == 0 and moved["wrong"] == 0 and moved["replays"], (make.__name__, moved)
    assert unchecked != plain, f"{make.__name__}: {chaos} has spoilt nothing: {plain}"
    for how in "on", "all":
        got, moved, frames = run(make, how, chaos)
        wrong = [i for i, (a, b) in enumerate(zip(plain, got)) if a != b]
        assert len(wrong) <= (too_late if how == "on" else 0), f"{make.__name__}, {chaos}, {how}: results {wrong} are wrong"
        assert moved["wrong"] == 1 and moved["self_checks"] >= 1, (make.__name__, chaos, how, moved)
        reasons = [frame["reason"]["text"] for frame in frames if (frame["reason"] or {}).get("id") == DIFFERS]
        assert len(reasons) == 1, (make.__name__, chaos, how, reasons)
    passed += 1
    return reasons[0]


def is_right(make, capture="auto", checks=1, calls=CALLS):
    """With nothing made wrong nothing is found, and nobody can tell that anything was compared."""
    global passed
    plain, *_ = run(make, "off", capture="off", calls=calls)
    for how in "on", "all":
        got, moved, _ = run(make, how, capture=capture, calls=calls)
        assert got == plain, f"{make.__name__}, {how}:\n    plain   {plain}\n    checked {got}"
        assert moved["wrong"] == 0, (make.__name__, how, moved)
        if how == "all" or capture == "auto":
            assert (moved["self_checks"] >= checks) if checks else moved["self_checks"] == 0, (make.__name__, how, moved)
            assert (moved["self_check_ms"] > 0) == (moved["self_checks"] > 0)
    passed += 1


# ---- each way ----

def on_frames():
    """Of a variable number of arguments: there is always a frame."""
    w = terra.arange(6.0).reshape(2, 3)

    def f(*x):
        return x[0] @ w + 1
    return f, lambda i: (terra.full((2, 2), float(i)),), the_result


def without_frames():
    w = terra.arange(6.0).reshape(2, 3)

    def f(x, k=2.0):
        return x @ w * k
    return f, lambda i: (terra.full((2, 2), float(i)),), the_result


def on_paths():
    def f(x):
        y = x * 2
        if y.sum() > 0:
            return y + 1
        return y - 1
    return f, lambda i: (terra.full((3,), 1.0 if i // 2 % 2 else -1.0),), the_result


def among_threads():
    """A thread that waits: long runs let it go on."""
    done = threading.Event()
    waiter = threading.Thread(target=done.wait)
    w = terra.ones(200, 200) / 200

    def f(x):
        return (x @ w @ w @ w @ w)[:2, :2]

    def after(i, result):
        if i == CALLS - 1:
            done.set()
            waiter.join()
        return result
    waiter.start()
    return f, lambda i: (w + i,), after


def with_gradients():
    w = terra.tensor([1.0, 2.0, 3.0], requires_grad=True)

    def f(x):
        return (x * w).exp().sum()

    def after(i, result):
        w.grad = None
        result.backward()
        return w.grad
    return f, lambda i: (terra.full((3,), i / 20),), after


class Model:
    def __init__(self):
        self.scales = [2.0, 3.0]
        self.scale = self.scales[0]

    def forward(self, x):
        return x * self.scale


def on_facts():
    model = Model()

    def after(i, result):
        model.scale = model.scales[i // 8 % 2]
        return result
    return model.forward, lambda i: (terra.ones(2),), after


check(on_frames, "spoil=whole")
check(on_frames, "spoil=short")
check(without_frames, "spoil=whole")
check(without_frames, "spoil=direct")
check(on_paths, "spoil=merged")
check(among_threads, "spoil=released", too_late=1)  # only the run itself shows that it is released
assert "the gradient for" in check(with_gradients, "spoil=backward")
for how in "off", "all":
    got, moved, frames = run(on_facts, how, "forget=1")
    right, *_ = run(on_facts, "off", capture="off")
    assert (got == right) == (how == "all"), (how, got)
assert moved["wrong"] == 1, moved
passed += 1

for make in on_frames, without_frames:
    try:
        run(make, "all", "spoil=whole", strict="1")
        raise AssertionError("TERRA_STRICT=1 did not raise")
    except SystemError as error:
        assert "a captured entry of" in str(error) and "is wrong: the result, element 0: expected" in str(error), error
    environment("off", capture="off")
passed += 1


# ---- nobody can tell ----

def effects():
    class Thing:
        pass
    thing, out = Thing(), io.StringIO()
    thing.count, thing.items, thing.table = 0, [], {}

    def f(x):
        thing.count += 1
        thing.items.append(thing.count)
        thing.table[thing.count % 3] = thing.count
        print("call", thing.count, file=out)
        return x * thing.count
    return f, lambda i: (terra.ones(2),), lambda i, r: (r, out.getvalue(), thing.count, thing.items, str(thing.table))


def writes():
    x, buffer = terra.zeros(4), terra.ones(2, 2)

    def f(x, buffer):
        x.add_(1)
        buffer[0].mul_(1.5)
        return x[1:3]
    return f, lambda i: (x, buffer), lambda i, r: (r, x, buffer, x._version, buffer._version)


def draws():
    random.seed(3)
    terra.manual_seed(5)

    def f(x):
        return terra.nn.functional.dropout(x, 0.5) * random.random()
    return f, lambda i: (terra.ones(8),), lambda i, result: (result, terra.rand(1), random.random())


def training():
    terra.manual_seed(1)
    model = terra.nn.Sequential(terra.nn.Linear(4, 8), terra.nn.Tanh(), terra.nn.Linear(8, 1))
    optimizer = terra.optim.Adam(model.parameters(), lr=0.01)
    x = terra.randn(16, 4)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.item()
    return step, lambda i: (x,), lambda i, result: (result, list(model.parameters()))


def finalizers():
    """What a frame replaces is dead when it returns, as in plain Python."""
    class Thing:
        pass
    thing = Thing()
    thing.last = terra.zeros(2)
    before = [None]

    def f(x):
        thing.last = x + 1
        return x * 2

    def after(i, result):
        dead = before[0] and before[0]() is None
        before[0] = weakref.ref(thing.last)
        return dead, result, thing.last
    return f, lambda i: (terra.full((2,), float(i)),), after


def nested():
    """A check of the outer one runs the inner one plainly."""
    w = terra.ones(3)

    def inner(x):
        return x * w + 1

    def outer(x):
        return inner(x).sum() + inner(x * 2)
    return outer, lambda i: (terra.full((3,), float(i)),), the_result


def one_tensor_in_two_places():
    """From some call on two weights are one, whose gradient is the sum of both."""
    weights = [terra.full((2, 2), 0.5, requires_grad=True), terra.full((2, 2), 0.25, requires_grad=True)]

    def f(x, v, w):
        return ((x @ v).relu() @ w).sum()

    def args(i):
        return terra.full((3, 2), float(i)), weights[0], weights[i < 8]

    def after(i, result):
        result.backward()
        gradients = [w.grad if w.grad is None else w.grad.tolist() for w in weights]
        weights[0].grad = weights[1].grad = None
        return result, gradients
    return f, args, after


for make in one_tensor_in_two_places, on_frames, without_frames, on_paths, among_threads, with_gradients, on_facts, effects, writes, draws, training, \
        finalizers, nested:
    is_right(make)
    if make is not among_threads:
        is_right(make, capture="stress")


# ---- what is not compared ----

def clock():
    def f(x):
        t = time.perf_counter()
        return x * 2, t
    return f, lambda i: (terra.ones(2),), lambda i, result: result[0]


def large():
    x = terra.ones(17 << 20)

    def f(x):
        return x[:4] * 2
    return f, lambda i: (x,), the_result


is_right(clock, checks=0)
is_right(large, checks=0, calls=10)

# In a verifying mode every call is compared, and not by the self-check; in stress mode none is.
for capture in "verify", "stress", "stress-verify", "off":
    _, moved, _ = run(on_frames, "on", capture=capture)
    assert moved["self_checks"] == 0, (capture, moved)
_, moved, _ = run(on_frames, "off")
assert moved["replays"] and moved["self_checks"] == 0, moved
passed += 1

# Checks become rare.
_, moved, _ = run(on_frames, "on", calls=1000)
assert 3 <= moved["self_checks"] <= 8 and moved["replays"] >= 900, moved
passed += 1

# The handler of a signal that waits would run in the frame that is interpreted, after the run that it is compared with.
world = {"k": 0, "n": 0}


def follows(x, _):
    world["n"] = world["k"] * 2
    return x * world["n"]


def change(number, frame):
    world["k"] += 1


environment("all")
C.capture_reset()
one = terra.ones(1)
for world["k"] in range(8):
    follows(one, None)
signal.signal(signal.SIGUSR1, change)
before = terra.capture.stats()
got = [t.item() for t in map(follows, [one] * 5, map(_thread.interrupt_main, [signal.SIGUSR1] * 5))]
assert got == [16, 18, 20, 22, 24], got
assert terra.capture.stats()["wrong"] == before["wrong"], terra.explain(follows)
passed += 1
environment("off", capture="off")
gc.collect()
print(f"{passed} passed")
