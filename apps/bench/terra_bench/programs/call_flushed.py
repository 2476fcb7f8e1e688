"""The call with cold caches: 8 MB are read before each, in both the measured loop and an empty one."""

import time

from programs import call

REPEATS = 1


def build(torch):
    add8, xs = call.make(torch)
    junk = bytearray(8 << 20)
    lost = [0.0]

    def flush():
        return junk.count(1)

    def step():
        flush()
        begin = time.perf_counter()
        add8(*xs)
        lost[0] += time.perf_counter() - begin

    step.own_seconds = lost
    return step
