"""Runs little programs plainly and under capture and compares results, arguments and reachable state after every call.

A program is a function that makes (f, args, state): f is the function to capture, args(i) gives the arguments of call i
(it may change the world first), state is anything that must look the same afterwards. `captures` says how often at
least a call must have been served from an entry; None: f must not be captured (and `reason` says why, by number).
"""
import os
import sys
import types

import _terra_C as C

programs = {}


def program(calls=6, captures=1, reason=None):
    def register(make):
        programs[make.__name__] = (make, calls, captures, reason)
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
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [look(v, depth + 1, seen) for v in value])
    if isinstance(value, dict):
        return ("dict", [(look(k, depth + 1, seen), look(v, depth + 1, seen)) for k, v in value.items()])
    if isinstance(value, BaseException):
        return (type(value).__name__, [look(v, depth + 1, seen) for v in value.args])
    if isinstance(value, types.MethodType):
        return ("method", value.__func__.__qualname__, look(value.__self__, depth + 1, seen))
    if hasattr(value, "__dict__") and not isinstance(value, (type, types.FunctionType, types.ModuleType)) and depth < 8:
        slots = [(n, look(getattr(value, n, None), depth + 1, seen)) for n in getattr(type(value), "__slots__", ())]
        return (type(value).__name__, look(dict(vars(value)), depth + 1, seen), slots)
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
    make, calls, captures, reason = programs[name]
    f, args, state = make()
    plain = transcript(f, args, state, calls, "off")
    made = make()
    target = getattr(made[0], "target", made[0])
    captured = transcript(*made, calls, "stress")
    frame = C.capture_frame(target)
    problems = []
    for i, (a, b) in enumerate(zip(plain, captured)):
        if a != b:
            problems.append(f"call {i} differs:\n    plain    {a}\n    captured {b}")
            break
    if captures is None:
        if frame["hits"]:
            problems.append("was captured")
        if reason is not None and frame["reason"] != reason:
            problems.append(f"reason {frame['reason']} ({frame['why']}), expected {reason}")
    elif frame["hits"] < captures and not os.environ.get("TERRA_CHAOS"):  # faults cost replays
        problems.append(f"served {frame['hits']} times, expected {captures}: {frame['why']}")
    if verbose or problems:
        print(f"{'BAD' if problems else 'ok '} {name}: {frame}")
        for problem in problems:
            print("   ", problem)
        if verbose:
            print(C.capture_explain(target))
    return not problems


def main():
    chosen = [a for a in sys.argv[1:] if not a.startswith("-")]
    verbose = "-v" in sys.argv
    results = {name: run(name, verbose) for name in (chosen or programs)}
    failed = [name for name, good in results.items() if not good]
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed {' '.join(failed)}")
    sys.exit(bool(failed))
