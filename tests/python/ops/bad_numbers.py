# timeout: 600
# run: TERRA_EXACT=1
"""Every number in every sample of the op records as something that changes between calls of a captured function: what eager
execution refuses, by a rule on sizes, on bounds or on the number itself, is refused in the same words."""

import re
import sys

import _terra_C as C
import terra
from _samples import all_close, numbers_of, samples, source_of, tensors_in

only = [a for a in sys.argv[1:] if a != "-v"]
BAD = [-1, 0, 1, 9, -7, 50, 1000]
HUGE = [2**62, -(2**62), 2**40]  # for what allocates nothing before it has looked at its sizes
PUBLIC = ("function", "method", "functional")
LOOKS_FIRST = {"empty", "zeros", "ones", "full", "as_strided", "narrow", "select", "expand", "view", "reshape", "unfold"}


def numbers_in(call):
    """(place, element or None, value) for each int of the arguments: place is a position or a keyword."""
    args, kwargs = call.arguments()
    for place, value in [*enumerate(args), *kwargs.items()]:
        if type(value) is int:
            yield place, None, value
        elif isinstance(value, (list, tuple)):
            for i, v in enumerate(value):
                if type(v) is int:
                    yield place, i, v


def function_of(call, place, element, number):
    """The call as a function of its tensors and of one of its numbers."""
    args, kwargs = call.arguments()
    tensors = []

    def text(where, value):
        if where != place:
            return source_of(value, tensors)
        if element is None:
            return "n"
        return "[" + ", ".join("n" if i == element else source_of(v, tensors) for i, v in enumerate(value)) + "]"

    parts = [text(i, v) for i, v in enumerate(args)] + [f"{k}={text(k, v)}" for k, v in kwargs.items()]
    name = f"number_{number}"
    source = f"def {name}(n, {', '.join(f't{i}' for i in range(len(tensors)))}):\n    return op({', '.join(parts)})\n"
    names = {"terra": terra, "op": getattr(C._ops, call.record["name"])}
    exec(compile(source, f"<{call}>", "exec"), names)
    return names[name], tensors


def outcome(function, n, tensors):
    terra.manual_seed(3)
    try:
        results = tensors_in(function(n, *tensors))
        return [None if t is None else (str(t.dtype), tuple(t.shape), t.stride(), numbers_of(t)) for t in results]
    except Exception as error:
        return re.sub(r"\(\d+ bytes are in use", "(some bytes are in use", f"{type(error).__name__}: {error}")


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return len(a) == len(b) and all(x[:3] == y[:3] and all_close(x[3], y[3], 1e-5, 1e-5) for x, y in zip(a, b))


failures, passed, refused, number = [], 0, 0, 0
for call in samples(("float32",)):
    if only and call.record["name"] not in only or not any(call.record[where] for where in PUBLIC):
        continue
    for place, element, value in numbers_in(call):
        number += 1
        function, tensors = function_of(call, place, element, number)
        with terra.capture.mode("off"):
            good = [n for n in (value, value - 1, value + 1, value + 2) if not isinstance(outcome(function, n, tensors), str)]
        bad = BAD + (HUGE if call.record["name"] in LOOKS_FIRST else [])
        for n in [*(good * 3)[:8], *(v for b in bad for v in (b, good[0] if good else b)), *good]:
            with terra.capture.mode("off"):
                eager = outcome(function, n, tensors)
            captured = outcome(function, n, tensors)
            refused += isinstance(eager, str)
            if same(eager, captured):
                passed += 1
            else:
                failures.append(f"{call}, argument {place} {element} is {n}:\n    eager    {eager}\n    captured {captured}")
                break

replays = sum(frame["calls"] > 0 and frame["state"] == "captured" for frame in terra.capture.stats()["frames"])
if "-v" in sys.argv:
    print(f"{number} functions, {replays} captured, {refused} calls refused")
for failure in failures:
    print(failure[:1000], file=sys.stderr)
assert only or replays > number // 2, f"only {replays} of {number} functions are captured"
assert only or refused > 1000, refused
print(f"{passed} passed, {len(failures)} failed" if failures else f"{passed} passed")
sys.exit(bool(failures))
