# run: TERRA_EXACT=1
"""What terra.explain() says and how a miss is told, word for word; stats, reset, mode and off; errors of the engine."""
import os
import re
import sys

import terra
import _terra_C as C

X = terra.ones(4, 3)
FACTOR = 2.0


class Layer(terra.nn.Module):
    def __init__(self, n, m):
        super().__init__()
        self.weight = terra.nn.Parameter(terra.ones(n, m))

    def forward(self, x):
        return x @ self.weight


class Net(terra.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = terra.nn.ModuleList([Layer(3, 2)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Box:
    pass


def scaled(x, box):
    box.last = x * FACTOR
    return [box.last]


def resumed(x):
    return x * os.isatty(99)


def opaque(x):
    return x * sys._getframe().f_lineno


def without_folders(text):
    return re.sub(r"\(\S*/", "(", text)


def line_of(function):
    return function.__code__.co_firstlineno


SCALED = """\
scaled (explain.py:{line}): captured, 7 calls, 2 recordings, 2 replays
  entry: 0 hits, 0 misses
    scaled belongs to the same module
    x: float32 [*, 3]
    globals()['FACTOR'] == 2.0
    gradient mode is on
    type of box is Box
    class Box is unchanged
    no code runs when box.last goes
    graph of 1 nodes
    effect: box.last = %4
    effect: new list = [%4]
"""
RESUMED = """\
resumed (explain.py:{line}): captured, 12 calls, 2 recordings, 7 replays
  entry: 7 hits, 0 misses
    up to line {inside}, where CPython goes on; reason 4: calls something that is not modelled: posix.isatty (explain.py:{inside})
    resumed belongs to the same module
    x: float32 [4, 3]
    globals()['os'] is a module
    type of a module is module
    os['isatty'] is a builtin_function_or_method
    which 6 calls saw from 4 words and 3 instructions
resumed from line {inside} (explain.py:{inside}): captured, 7 calls, 1 recordings, 3 replays
  entry: 3 hits, 0 misses
    resumed belongs to the same module
    stack item 0: float32 [4, 3]
    stack item 1 is False
    x is stack item 0
    gradient mode is on
    no code runs when what is in slot 2 of the frame goes
    which 3 calls saw from 1 words and 9 instructions
    graph of 1 nodes
"""
OPAQUE = """\
opaque (explain.py:{line}): hot, 6 calls, 2 recordings, 1 replays
  reason 4: calls something that is not modelled: sys._getframe (explain.py:{inside})
  hint: move the call out of the hot function, or leave it to co-execution
"""


def same(text, expected):
    assert text == expected, "\n".join(["explained as", text, "expected", expected])


def explanations():
    terra.explain(scaled, X, Box())
    scaled(terra.ones(5, 3), Box())
    same(without_folders(terra.explain(scaled)), SCALED.format(line=line_of(scaled)))
    same(without_folders(terra.explain(resumed, X)), RESUMED.format(line=line_of(resumed), inside=line_of(resumed) + 1))
    same(without_folders(terra.explain(opaque, X)), OPAQUE.format(line=line_of(opaque), inside=line_of(opaque) + 1))
    text = terra.explain(Net(), X)
    assert "self.layers._modules['0'].weight: float32 [3, 2] leaf that requires grad\n" in text, text
    assert "x: float32 [4, 3]\n" in text, text


def misses():
    def by_tensor(x):
        return x * 2

    def by_value(x, k):
        return x * 2 if k == "a" else x

    def by_length(x, items):
        return x * len(items)

    def by_attribute(x, box):
        return x * 2 if hasattr(box, "gone") else x + 1

    def by_global(x):
        return x * FACTOR

    big, box = terra.ones(3, 4), Box()
    grad = terra.ones(4, 3, requires_grad=True)
    table = [
        (by_tensor, (X,), (terra.ones(4, 7),), "x.shape[1] was 3, now 7"),
        (by_tensor, (X,), (terra.ones(4),), "x.shape was [4, 3], now [4]"),
        (by_tensor, (X,), (X.double(),), "x.dtype was float32, now float64"),
        (by_tensor, (X,), (grad,), "x.requires_grad was False, now True"),
        (by_tensor, (X,), (big.t(),), "x.stride() was [3, 1], now [1, 4]"),
        (by_tensor, (grad,), (grad * 2,), "x.is_leaf was True, now False"),
        (by_tensor, (X,), (3,), "type of x was Tensor, now int"),
        (by_value, (X, "a"), (X, "b"), "k was 'a', now 'b'"),
        (by_length, (X, [1, 2]), (X, [1, 2, 3]), "len(items) was 2, now 3"),
        (by_attribute, (X, box), (X, None), "type of box was Box, now NoneType"),
    ]
    for function, first, second, expected in table:
        C.capture_reset()
        for _ in range(6):
            function(*first)
        terra.freeze()
        try:
            function(*second)
        except RuntimeError as error:
            assert expected in str(error), f"{error}\nexpected {expected}"
        else:
            raise AssertionError(f"no miss: {expected}\n{terra.explain(function)}")
        finally:
            terra.freeze(False)
    C.capture_reset()
    for _ in range(6):
        by_tensor(X)
    with terra.no_grad():
        terra.freeze()
        try:
            by_tensor(X)
        except RuntimeError as error:
            assert "the gradient mode was on, now off" in str(error), error
        finally:
            terra.freeze(False)


def steering():
    def f(x):
        return x * 3

    @terra.capture.off
    def plain(x):
        return f(x)

    for _ in range(9):
        plain(X)
    assert C.capture_frame(f)["recordings"] == 0
    with terra.capture.mode("off"):
        for _ in range(9):
            f(X)
    assert C.capture_frame(f)["recordings"] == 0
    for _ in range(9):
        f(X)
    before = terra.capture.stats()
    assert C.capture_frame(f)["hits"] > 0 and before["replays"] > 0 and before["version"] == 1
    terra.capture.reset()
    assert C.capture_frame(f)["hits"] == 0
    try:
        terra.capture.mode("sideways").__enter__()
    except ValueError as error:
        assert "capture mode 'sideways' does not exist" in str(error)
    try:
        terra.explain(3)
    except TypeError as error:
        assert "needs a Python function or method" in str(error)


def engine_errors():
    """What breaks inside the engine is counted, and the frame runs plainly; with TERRA_STRICT=1 it raises."""
    for place in "01":
        for strict in "01":
            os.environ["TERRA_CHAOS"], os.environ["TERRA_STRICT"] = f"error={place}@1", strict
            C.capture_start()
            C.capture_reset()
            before = terra.capture.stats()["internal_errors"]
            calls, raised = [], 0

            def f(x):
                calls.append(1)
                return x * 2
            for i in range(8):
                try:
                    assert f(X).sum().item() == 24.0
                except SystemError as error:
                    assert "fault injection" in str(error), error
                    raised += 1
            assert raised == int(strict), (place, strict, raised)
            assert terra.capture.stats()["internal_errors"] == before + 1
            frame = C.capture_frame(f)
            assert frame["reason"] == 27 and frame["state"] == "given up", frame
            not_run = place + strict == "11"  # refused before the frame started
            assert len(calls) == 8 - not_run, "an effect was lost or happened twice"
    os.environ["TERRA_CHAOS"], os.environ["TERRA_STRICT"] = "", "0"
    C.capture_start()


tests = [explanations, misses, steering, engine_errors]
for test in tests:
    test()
print(f"{len(tests)} passed")
