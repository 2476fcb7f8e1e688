# run: --torch --capture=stress
# run: --torch --capture=verify
# run: --torch
"""Handlers of signals that come at any time in a loop, also while it is recorded: each is called, and what it raises ends
the loop."""

import faulthandler
import signal

import torch


class Enough(Exception):
    pass


def stop(number, frame):
    raise Enough


def without_end(x):
    while True:
        x = (x * 1.0001).tanh()


def stopped_after(delay):
    signal.setitimer(signal.ITIMER_REAL, delay)
    try:
        without_end(torch.ones(3, 4))
    except Enough:
        return 1


signal.signal(signal.SIGALRM, stop)
faulthandler.dump_traceback_later(60, exit=True)
stopped = sum(stopped_after(delay) for delay in (0.02, 0.1, 0.02, 0.005, 0.05, 0.1))
assert stopped == 6, stopped
print("6 passed")
