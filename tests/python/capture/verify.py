# run: TERRA_EXACT=1 TERRA_STRICT=0
"""--capture=verify finds every kind of wrong entry: each thing that it compares is made wrong once (TERRA_CHAOS=value),
and has to be found; with nothing wrong it finds nothing. Results are the interpreter's either way."""
import _thread
import os
import signal

import terra
import _terra_C as C

DIFFERS = 30


def outputs():
    def f(x):
        y = x * 2
        return y, (y + 1, [y.sum()]), x
    x = terra.ones(2, 3)
    return f, lambda: f(x), lambda: None


def writes():
    x, y = terra.zeros(4), terra.ones(2, 2)

    def f(x, y):
        x.add_(1)
        y[0].mul_(3)
        return x[1:3]
    return f, lambda: f(x, y), lambda: (x.tolist(), y.tolist(), x._version, y._version)


def gradients():
    w = terra.ones(3, requires_grad=True)
    x = terra.tensor([1.0, 2.0, 3.0])

    def f():
        w.grad = None
        loss = (w * x).sum()
        loss.backward()
        return loss.detach()
    return f, f, lambda: w.grad.tolist()


def random_numbers():
    def f(x):
        return terra.nn.functional.dropout(x, 0.5)
    x = terra.ones(50)

    def call():
        terra.manual_seed(7)
        return f(x).tolist(), terra.rand(1).item()
    return f, call, lambda: None


def host_effects():
    class Thing:
        pass

    class Slots:
        __slots__ = ("a",)

    thing, slots, items, table, x = Thing(), Slots(), [], {}, terra.ones(2)
    thing.count = slots.a = 0
    cell = 0

    def f(x):
        nonlocal cell
        thing.count += 1
        thing.last = x + 1
        slots.a = thing.count * 2
        items.append(thing.count)
        table["k"] = [thing.count]
        table.update(z=thing.count)
        cell = thing.count + 5
        return x * thing.count
    return f, lambda: f(x), lambda: (thing.count, thing.last.tolist(), slots.a, items[:], dict(table), cell)


def numbers_of_tensors():
    seen = []

    def f(x):
        n = x.sum().item()
        seen.append(n + 1)
        return n * 2
    x = terra.ones(3)
    return f, lambda: f(x), lambda: list(seen)


def pair():
    w = terra.ones(3, requires_grad=True)

    def f(x):
        return (x * w).exp(), w * 2
    x = terra.ones(3)
    return f, lambda: f(x), lambda: None


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value.tolist() if isinstance(value, terra.Tensor) else value


def warm_up(make):
    """A fresh program whose next call is verified, and a twin that is never captured."""
    f, call, state = make()
    C.capture_reset()
    for _ in range(6):
        call()
    _, other, other_state = make()
    with terra.capture.mode("off"):
        for _ in range(6):
            other()
    return call, state, other, other_state


def chaos(text):
    os.environ["TERRA_CHAOS"] = text
    os.environ["TERRA_CAPTURE"] = "stress-verify"
    C.capture_start()


def found(make, number):
    """Whether making thing `number` wrong was found, and what was said about it."""
    chaos("")
    call, state, other, other_state = warm_up(make)
    before = terra.capture.stats()
    chaos(f"value={number}@1")
    got = plain(call())
    chaos("")
    after = terra.capture.stats()
    with terra.capture.mode("off"):
        assert (got, state()) == (plain(other()), other_state()), (make.__name__, number)
    assert after["replays"] > before["replays"], (make.__name__, "was not captured")
    reasons = [frame["reason"]["text"] for frame in after["frames"] if (frame["reason"] or {}).get("id") == DIFFERS]
    assert len(reasons) == after["wrong"] - before["wrong"]
    return bool(reasons), reasons


# How many things there are in each program: outputs, 3 for each tensor that enters, random state, writes.
programs = {outputs: 3 + 3 + 1, writes: 1 + 6 + 1, gradients: 1 + 6 + 1, random_numbers: 1 + 3 + 1, host_effects: 2 + 3 + 1 + 7,
            numbers_of_tensors: 1 + 3 + 1 + 1, pair: 2 + 6 + 1}
passed = 0
for make, things in programs.items():
    for number in range(things):
        right, why = found(make, number)
        assert right, f"{make.__name__}: thing {number} was made wrong and not found"
        passed += 1
    wrong, why = found(make, 1000)
    assert not wrong, f"{make.__name__}: {why}"
    passed += 1

# The handler of a signal runs in the interpreted frame, after the run that it is compared with: that proves nothing.
world = {"k": 0, "n": 0}


def follows(_):
    world["n"] = world["k"] * 2
    return world["n"]


def change(number, frame):
    world["k"] += 1


chaos("")
for world["k"] in range(8):
    follows(None)
signal.signal(signal.SIGUSR1, change)
before = terra.capture.stats()
assert list(map(follows, map(_thread.interrupt_main, [signal.SIGUSR1] * 5))) == [16, 18, 20, 22, 24]
after = terra.capture.stats()
assert after["wrong"] == before["wrong"] and after["replays"] >= before["replays"] + 5, terra.explain(follows)
world["k"] = 3
assert follows(None) == 6 and terra.capture.stats()["replays"] == after["replays"] + 1
passed += 1

os.environ["TERRA_STRICT"] = "1"
chaos("")
call, *_ = warm_up(outputs)
chaos("value=0@1")
try:
    call()
    raise AssertionError("TERRA_STRICT=1 did not raise")
except SystemError as error:
    assert "is wrong: the result[0], element 0: expected" in str(error), error
print(f"{passed + 1} passed")
