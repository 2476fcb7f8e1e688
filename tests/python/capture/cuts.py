# run: TERRA_EXACT=1
"""A served cut call keeps nothing: references, blocks and the data stack are as before after 10,000 calls; the report
names the place and the reason."""
import gc
import json
import os
import sys

import terra

import _terra_C as C


class Item:
    def __init__(self, n):
        self.n = n


def straight(x, item, log):
    y = (x * 2 + 1).relu()
    pair = [y, item, log]
    os.getpid()
    return pair[0] is y and pair[1] is item


def loop(x, item, log):
    y = x
    for k, (a, b) in enumerate(zip([1, 2, 3], {"p": item, "q": log}.items())):
        y = y * a + k
        if k == 1:
            os.getpid()
    return b[1] is log


def block(x, item, log):
    cell = x
    with terra.no_grad():
        try:
            cell = (cell * 2 + 1).relu()
            os.getpid()
            raise KeyError
        except KeyError:
            return (lambda: cell is not x)()


def recursive(x, item, log, depth=3):
    y = (x * 2 + 1).relu()
    if os.getpid() and depth:
        return recursive(y, item, log, depth - 1)
    return True


def blocks_after(f, rounds):
    x, item, log = terra.ones(2, 2), Item(1), []
    for _ in range(rounds):
        assert f(x, item, log)
    gc.collect()
    return sys.getallocatedblocks(), [sys.getrefcount(o) for o in (x, item, log)]


C.capture_mode("auto")
for f in straight, loop, block, recursive:
    blocks_after(f, 50)
    before, counts = blocks_after(f, 200)
    hits = C.capture_frame(f)["hits"]
    after, counts_after = blocks_after(f, 10_000)
    assert C.capture_frame(f)["hits"] - hits >= 9_990, C.capture_frame(f)  # their caller is recorded, too
    assert counts == counts_after, (f.__name__, counts, counts_after)
    assert after - before < 100, (f.__name__, before, after)
C.capture_mode("off")

report = json.loads(C.capture_report())
assert report["cuts"] >= 40_000
served = [straight, loop, block, recursive]
for frame in report["frames"]:
    if frame["name"] not in [f.__name__ for f in served]:
        continue
    line = globals()[frame["name"]].__code__.co_firstlineno
    (cut,) = frame["cuts"]
    assert cut["id"] == 4 and "getpid" in cut["text"], cut
    assert line < cut["line"] <= line + 7, cut
    assert "where CPython goes on; reason 4" in C.capture_explain(globals()[frame["name"]])
print("1 passed")
