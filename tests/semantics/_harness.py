"""Runs little programs plainly and under capture and compares results, arguments and reachable state after every call.

A program is a function that makes (f, args, state): f is the function to capture, args(i) gives the arguments of call i
(it may change the world first), state is anything that must look the same afterwards. `captures` says how often at
least a call must have been served from an entry; None: f must not be captured (and `reason` says why, by number).
Calls that left the frame in the middle count only with `cut=True`, or `cut=N`: some entry ends for reason N.
`recordings` says how often the frame may be recorded at most: what differs between calls has to be served by few entries.
Write it so that a stale constant, a lost effect or a wrong order changes what is compared.

Each program runs three times over: plain and captured in this process, and in processes of their own with capture off
and `auto`; what they print is part of what is compared.

    terra-run tests/semantics/FILE.py [NAME...] [-v]      a file of programs, or some of them; -v explains the frames
"""
import collections
import os
import subprocess
import sys
import types

import _terra_C as C

programs = {}


def program(calls=6, captures=1, reason=None, cut=False, recordings=None):
    def register(make):
        programs[make.__name__] = (make, calls, captures, reason, cut, recordings)
        return make
    return register


def look(value, depth=0, seen=None):
    """A comparable picture of a value, type and order included, with shared references shown."""
    seen = {} if seen is None else seen
    if value is None or isinstance(value, (int, float, str, bytes, bool, complex)):
        return (type(value).__name__, repr(value))
    if id(value) in seen:
        return ("again", seen[id(value)])
    seen[id(value)] = len(seen)
    if type(value).__name__ in ("Tensor", "Parameter"):
        return ("tensor", str(value.dtype), tuple(value.shape), value.tolist(), value.requires_grad)
    if isinstance(value, (list, tuple, collections.deque)):
        return (type(value).__name__, [look(v, depth + 1, seen) for v in value])
    if isinstance(value, dict):
        return (type(value).__name__, [(look(k, depth + 1, seen), look(v, depth + 1, seen)) for k, v in value.items()])
    if isinstance(value, (set, frozenset)):  # their order is compared where a program shows it
        return (type(value).__name__, sorted(str(look(v, depth + 1, dict(seen))) for v in value))
    if isinstance(value, BaseException):
        return (type(value).__name__, [look(v, depth + 1, seen) for v in value.args])
    if isinstance(value, types.MethodType):
        return ("method", value.__func__.__qualname__, look(value.__self__, depth + 1, seen))
    if hasattr(value, "__dict__") and not isinstance(value, (type, types.FunctionType, types.ModuleType)) and depth < 8:
        slots = [(n, look(getattr(value, n, None), depth + 1, seen)) for n in getattr(type(value), "__slots__", ())]
        fields = dict(vars(value))
        seen[id(fields), "kept"] = fields  # an address that is looked at must not be used again
        return (type(value).__name__, look(fields, depth + 1, seen), slots)
    slots = getattr(type(value), "__slots__", None)
    if slots and depth < 8:
        return (type(value).__name__, [(n, look(getattr(value, n, None), depth + 1, seen)) for n in slots])
    return type(value).__name__


def transcript(f, args, state, calls, mode):
    lines = []
    for i in range(calls):
        given = args(i)
        C.capture_mode(mode)
        try:
            result = f(*given)
        except Exception as error:
            result = error
        finally:
            C.capture_mode("off")
        lines.append(look((result, given, state)))
        del result, given
    return lines


def run(name, verbose=False):
    make, calls, captures, reason, cut, recordings = programs[name]
    f, args, state = make()
    plain = transcript(f, args, state, calls, "off")
    made = make()
    target = getattr(made[0], "target", made[0])
    captured = transcript(*made, calls, "stress")
    frame = C.capture_frame(target)
    if captures is not None:  # a caller made for the test may have been captured with the target inside
        frame = max(frame, C.capture_frame(made[0]), key=lambda frame: frame["hits"])
    problems = []
    for i, (a, b) in enumerate(zip(plain, captured)):
        if a != b:
            problems.append(f"call {i} differs:\n    plain    {a}\n    captured {b}")
            break
    whole = frame["hits"] - frame["cut_hits"]
    explained = C.capture_explain(target)
    if captures is None:
        if whole:
            problems.append("was captured")
        if reason is not None and frame["reason"] != reason:
            problems.append(f"reason {frame['reason']} ({frame['why']}), expected {reason}")
    elif (frame["hits"] if cut else whole) < captures and not os.environ.get("TERRA_CHAOS"):  # faults cost replays
        problems.append(f"served {frame['hits']} times, expected {captures}: {frame['why']}")
    elif type(cut) is int and f"goes on; reason {cut}:" not in explained and not os.environ.get("TERRA_CHAOS"):
        problems.append(f"no entry ends for reason {cut}")
    if recordings is not None and frame["recordings"] > recordings and not os.environ.get("TERRA_CHAOS"):
        problems.append(f"recorded {frame['recordings']} times, expected at most {recordings}")
    if verbose or problems:
        print(f"{'BAD' if problems else 'ok '} {name}: {frame}")
        for problem in problems:
            print("   ", problem)
        if verbose:
            print(explained)
    return not problems


def print_transcripts(names, mode):
    """The half of a comparison that runs in a process of its own."""
    for name in names:
        make, calls, *_ = programs[name]
        for line in transcript(*make(), calls, mode):
            print(name, line)


def processes_differ(names):
    """What separate processes print with capture off and on, where they part; empty if nowhere."""
    texts = []
    for mode in "off", "auto":
        command = [sys.executable, sys.argv[0], *names, f"--transcripts={mode}"]
        process = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"TERRA_CAPTURE": "off"})
        texts.append(process.stdout.splitlines() + process.stderr.splitlines())
    for plain, captured in zip(*texts):
        if plain != captured:
            return f"processes differ:\n    plain    {plain}\n    captured {captured}"
    return "" if len(texts[0]) == len(texts[1]) else "processes differ in length"


def main():
    chosen = [a for a in sys.argv[1:] if not a.startswith("-")] or list(programs)
    for argument in sys.argv[1:]:
        if argument.startswith("--transcripts="):
            return print_transcripts(chosen, argument.partition("=")[2])
    verbose = "-v" in sys.argv
    failed = [name for name in chosen if not run(name, verbose)]
    if complaint := processes_differ(chosen):
        print(complaint)
        failed.append("(processes)")
    if failed:
        print("failed:", *failed)
    print(f"{len(chosen)} passed")
    sys.exit(bool(failed))
