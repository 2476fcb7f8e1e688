"""The side that runs in the measured interpreter: worker.py KIND PROGRAM VARIANT THREADS SETTINGS.

Reads requests, one JSON object a line, from stdin, answers on stdout. Says hello when the program is imported and built."""

import contextlib
import importlib
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def status_kilobytes(key):
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(key + ":"):
                return int(line.split()[1])
    return 0


def reset_peak():
    """Makes the peak of resident memory start again from the present size."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def import_torch(threads):
    """PyTorch, or Terra under its name."""
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    return torch


def import_jax(threads):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])  # XLA's pool follows the affinity mask
    import jax

    return jax


LIBRARIES = {"terra": import_torch, "torch": import_torch, "jax": import_jax, "python": lambda threads: None}


def main():
    kind, program, variant, threads, settings = *sys.argv[1:4], int(sys.argv[4]), json.loads(sys.argv[5])
    begin = time.perf_counter()
    library = LIBRARIES[kind](threads)
    imported = time.perf_counter()
    reset_peak()
    base = status_kilobytes("VmHWM")
    capture = getattr(library, "capture", None)
    mode = capture.mode("off") if capture is not None and variant == "eager" else contextlib.nullcontext()
    with mode:
        name = "jax_" + program if kind == "jax" else program
        step = importlib.import_module("programs." + name).build(library, **settings)
        if variant == "awake":  # a tensor operation now and then keeps the frame hook in place
            step = awake(step, library)
        answer(version=f"{kind} {getattr(library, '__version__', sys.version.split()[0])}", import_seconds=imported - begin)
        for line in sys.stdin:
            serve(json.loads(line), step, base, capture)


def awake(step, library):
    keep_out = iter(int, 1)  # an iterator from outside: the frame is not captured, and the step not with it

    def both():
        next(keep_out)
        library.ones(1)
        next(keep_out)
        step()

    return both


def serve(request, step, base, capture):
    if request["do"] == "block":
        own = getattr(step, "own_seconds", None)  # a program that times itself
        before, begin = own[0] if own else 0.0, time.perf_counter()
        for _ in range(request["calls"]):
            step()
        wall = time.perf_counter() - begin
        answer(seconds=own[0] - before if own else wall, wall=wall)
    elif request["do"] == "above":  # a block, the same loop around nothing, and the graph run from C++
        empty, (function, *args) = step.empty, step.graph
        times = {}
        for name, part in (("call", step), ("empty", empty)):
            begin = time.perf_counter()
            for _ in range(request["calls"]):
                part()
            times[name] = time.perf_counter() - begin
        answer(graph=capture.graph_seconds(function, *args, runs=100 * request["calls"]), **times)
    elif request["do"] == "each":
        ends, begin = [], time.perf_counter()
        for _ in range(request["calls"]):
            step()
            ends.append(time.perf_counter() - begin)
        answer(seconds=ends)
    elif request["do"] == "results":
        answer(results=[step() for _ in range(request["calls"])])
    elif request["do"] == "facts":
        answer(**step.facts())
    elif request["do"] == "memory":
        answer(base=base, peak=status_kilobytes("VmHWM"), now=status_kilobytes("VmRSS"))
    elif request["do"] == "stats":
        answer(stats=capture.stats() if capture is not None else None)


def answer(**values):
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


main()
