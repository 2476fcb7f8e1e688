# run: TERRA_STRICT=0
# run: TERRA_STRICT=0 --threads=1
"""Where kernels may add in another order, checks tell rounding from what is wrong: functions that make something large of
a rounding error keep their entries, and a value that is wrong is a verdict after a few looks in a row."""
import itertools
import os

import terra
import _terra_C as C

passed = 0
C.capture_thrift(False)  # times of calls decide nothing


def environment(check, chaos="", capture="auto"):
    os.environ |= {"TERRA_SELF_CHECK": check, "TERRA_CHAOS": chaos, "TERRA_CAPTURE": capture}
    C.capture_start()


def run(make, chaos="", calls=25):
    """The counters' moves in `calls` calls, each checked where it can be, and the results. C code calls the function."""
    C.capture_reset()
    f, arguments = make()
    calls = itertools.starmap(f, [arguments(i) for i in range(calls)])
    environment("all", chaos)
    before = terra.capture.stats()
    results = list(calls)
    after = terra.capture.stats()
    environment("off", capture="off")
    return {name: after[name] - before[name] for name in ("wrong", "self_checks", "replays")}, results


def noise_that_adam_sees():
    """The gradient of a bias before a normalisation is nothing but rounding, and Adam makes steps of full size of it."""
    terra.manual_seed(1)
    layers = terra.nn.Linear(16, 32), terra.nn.BatchNorm1d(32), terra.nn.ReLU(), terra.nn.Linear(32, 4)
    model = terra.nn.Sequential(*layers)
    optimizer = terra.optim.Adam(model.parameters(), lr=0.01)
    x, y = terra.randn(64, 16), terra.randint(0, 4, (64,))

    def step(x, y):
        optimizer.zero_grad()
        loss = terra.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()
    return step, lambda i: (x, y)


def gradients_of_noise():
    """The same seen by the backward half of a pair."""
    terra.manual_seed(2)
    model = terra.nn.Sequential(terra.nn.Linear(16, 32), terra.nn.BatchNorm1d(32), terra.nn.Linear(32, 4))
    x = terra.randn(64, 16)

    def forward(x):
        return model(x).sum()
    return forward, lambda i: (x,)


def cancellation():
    terra.manual_seed(3)
    x = terra.randn(1000)

    def f(x):
        y = (x * 1e4).sum() - (x * 1e4 + 1e-3).sum()
        return y, y.sign(), (y * 1e6).round(), y.item()
    return f, lambda i: (x + i,)


def thresholds():
    terra.manual_seed(4)
    w = terra.randn(64, 64)

    def f(x):
        y = (x @ w).relu()
        return y.argmax(1), (y * 127).round(), (y > 1).sum().item()
    return f, lambda i: (terra.full((64, 64), 1.0 + i / 7),)


for make in noise_that_adam_sees, gradients_of_noise, cancellation, thresholds:
    moved, _ = run(make)
    assert moved["wrong"] == 0 and moved["self_checks"] >= 15, (make.__name__, moved)
    passed += 1


def sum_of_squares():
    terra.manual_seed(5)
    w = terra.randn(64, 64)

    def f(*x):  # on frames, the short way
        y = x[0] @ w
        return (y * y).sum(1)
    return f, lambda i: (terra.full((4, 64), 1.0 + i),)


_, right = run(sum_of_squares)
moved, got = run(sum_of_squares, "spoil=short")
assert moved["wrong"] == 1, moved
assert all(terra.allclose(a, b) for a, b in zip(right, got)), f"{right}\n{got}"
print(f"{passed + 1} passed")
