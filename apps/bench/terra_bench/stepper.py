"""Runs a program of models/terra in the measured interpreter, and prints the seconds of its steps: stepper.py PROGRAM
THREADS STEPS."""

import contextlib
import importlib
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "models" / "terra"))


class Clock:
    """A Progress that looks at no loss."""

    def __init__(self):
        self.times = []

    def step(self, step, loss):
        self.times.append(time.perf_counter())


def main():
    program, threads, steps = sys.argv[1:]
    clock = Clock()
    with contextlib.redirect_stdout(sys.stderr):
        importlib.import_module(program).main(["--steps", steps, "--threads", threads], clock)
    print(json.dumps([b - a for a, b in zip(clock.times, clock.times[1:])]))


main()
