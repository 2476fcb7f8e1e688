"""Runs little programs plainly and under capture and compares results, arguments and reachable state after every call.

A program is a function that makes (f, args, state): f is the function to capture, args(i) gives the arguments of call i
(it may change the world first), state is anything that must look the same afterwards. `captures` says how often at
least a call must have been served from an entry; None: f must not be captured (and `reason` says why, by number).
Calls that left the frame in the middle count only with `cut=True`, or `cut=N`: some entry ends for reason N.
`recordings` says how often the frame may be recorded at most: what differs between calls has to be served by few entries.
Write it so that a stale constant, a lost effect or a wrong order changes what is compared.

Each program runs three times over: plain and captured in this process, and in processes of their own with capture off
and `auto`; what they print is part of what is compared, and so is how they end. HARNESS_MODE=verify (and the like)
captures in another mode, in which nothing is said of how often a call is served.

    terra-run tests/semantics/FILE.py [NAME...] [-v]      a file of programs, or some of them; -v explains the frames
"""
import collections
import json
import os
import re
import subprocess
import sys
import types

import _terra_C as C

programs = {}
MODE = os.environ.get("HARNESS_MODE", "stress")
EXACT = os.environ.get("TERRA_EXACT") == "1"
CHECKED = os.environ.get("TERRA_SELF_CHECK") == "all"
COUNTS = MODE == "stress" and not CHECKED and not os.environ.get("TERRA_CHAOS")  # checks and faults cost replays


def program(calls=6, captures=1, reason=None, cut=False, recordings=None):
    def register(make):
        programs[make.__name__] = (make, calls, captures, reason, cut, recordings)
        return make
    return register


class Bag:
    """An object with these attributes."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


ATOMS = (int, float, str, bytes, bool, complex, type(None), type(...), type(NotImplemented), range)
NAMED = (type, types.ModuleType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)


def code_of(code):
    """What a code object does; not where it lies."""
    consts = [code_of(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return ("code", code.co_qualname, code.co_code, consts, code.co_names, code.co_varnames, code.co_freevars)


def parts_of(value):
    """(kind, [(name, part)]) of a value that is looked into, parts in an order that means something."""
    if isinstance(value, (list, tuple, collections.deque)):
        parts = list(enumerate(value))
        return type(value).__name__, parts + [("maxlen", value.maxlen)] if isinstance(value, collections.deque) else parts
    if isinstance(value, dict):
        return type(value).__name__, [(i, pair) for i, pair in enumerate(value.items())]
    if isinstance(value, types.FunctionType):
        cells = [cell for cell in value.__closure__ or ()]
        return "function", [("code", code_of(value.__code__)), ("name", value.__qualname__), ("cells", cells),
                            ("defaults", value.__defaults__), ("named", value.__kwdefaults__), ("own", vars(value))]
    if isinstance(value, types.CellType):
        return "cell", [("holds", contents(value))]
    if isinstance(value, types.MethodType):
        return "method", [("function", value.__func__), ("self", value.__self__)]
    if isinstance(value, types.GeneratorType):
        frame = value.gi_frame
        at = (frame.f_lasti, frame.f_lineno, dict(frame.f_locals)) if frame else "ended"
        return "generator", [("code", code_of(value.gi_code)), ("at", at), ("below", value.gi_yieldfrom)]
    return type(value).__name__, attributes_of(value)


def contents(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return "empty"


def attributes_of(value):
    """Those of the instance: slots of all its classes, its dict, and what an exception carries besides."""
    parts = []
    for base in type(value).__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            mangled = f"_{base.__name__.lstrip('_')}{name}" if name.startswith("__") and not name.endswith("__") else name
            if name not in ("__dict__", "__weakref__"):
                parts.append((name, getattr(value, mangled, None)))
    if hasattr(value, "__dict__"):
        parts += sorted(vars(value).items(), key=str) if isinstance(value, BaseException) else vars(value).items()
    if isinstance(value, BaseException):
        parts += [("args", value.args), ("cause", value.__cause__), ("context", value.__context__),
                  ("suppressed", value.__suppress_context__), ("traceback", traceback_of(value))]
    return parts


def traceback_of(error):
    """Functions and lines, outermost first; that of the harness itself left out."""
    at, places = error.__traceback__, []
    while at:
        if at.tb_frame.f_code.co_filename != __file__:
            places.append((at.tb_frame.f_code.co_qualname, at.tb_lineno))
        at = at.tb_next
    return places


def look(value, seen=None):
    """A comparable picture of a value, type and order included, with shared references shown, to any depth."""
    seen = {} if seen is None else seen
    if isinstance(value, ATOMS):
        return (type(value).__name__, repr(value)) if type(value) in ATOMS else plain_part(value, seen)
    if id(value) in seen:
        return ("again", seen[id(value)][0])
    seen[id(value)] = len(seen), value  # kept: an address that is looked at must not be used again
    if type(value).__name__ in ("Tensor", "Parameter"):
        strides = () if value.is_sparse else value.stride()
        return ("tensor", str(value.dtype), tuple(value.shape), strides, value.tolist(), value.requires_grad)
    if isinstance(value, NAMED):
        return (type(value).__name__, getattr(value, "__qualname__", value.__name__))
    if isinstance(value, (set, frozenset)):  # their order is compared where a program shows it
        return (type(value).__name__, sorted(str(look(v, dict(seen))) for v in value))
    kind, parts = parts_of(value)
    return (kind, [(str(name), look(part, seen)) for name, part in list(parts)])


def plain_part(value, seen):
    """Of an instance of a subclass of a number or a string: its value, and what it has besides."""
    own = attributes_of(value)
    plain = [base for base in ATOMS if isinstance(value, base)][0]
    return (type(value).__name__, plain.__repr__(value), [(name, look(part, seen)) for name, part in own])


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


def alike(a, b):
    """The same picture. Where runs need not be exact, numbers differ by rounding at most."""
    if a == b or EXACT:
        return a == b
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(alike, a, b))
    try:
        a, b = float(a), float(b)
    except (TypeError, ValueError):
        return False
    return abs(a - b) <= 1e-5 + 1e-4 * abs(b)


def run(name, verbose=False):
    make, calls, captures, reason, cut, recordings = programs[name]
    f, args, state = make()
    plain = transcript(f, args, state, calls, "off")
    made = make()
    target = getattr(made[0], "target", made[0])
    captured = transcript(*made, calls, MODE)
    frame = C.capture_frame(target)
    if captures is not None:  # a caller made for the test may have been captured with the target inside
        frame = max(frame, C.capture_frame(made[0]), key=lambda frame: frame["hits" if cut else "served"])
    problems = []
    for i, (a, b) in enumerate(zip(plain, captured)):
        if not alike(a, b):
            problems.append(f"call {i} differs:\n    plain    {a}\n    captured {b}")
            break
    explained = C.capture_explain(target)
    if MODE != "stress":
        pass
    elif captures is None:
        if frame["hits"] > frame["cut_hits"]:
            problems.append("was captured")
        if reason is not None and frame["reason"] != reason:
            problems.append(f"reason {frame['reason']} ({frame['why']}), expected {reason}")
    elif frame["hits" if cut else "served"] < captures and COUNTS:
        problems.append(f"served {frame['served']} times, expected {captures}: {frame['why']}")
    elif type(cut) is int and f"goes on; reason {cut}:" not in explained and COUNTS:
        problems.append(f"no entry ends for reason {cut}")
    if recordings is not None and frame["recordings"] > recordings and COUNTS:
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
        texts.append(process.stdout.splitlines() + process.stderr.splitlines() + [f"exit {process.returncode}"])
    for plain, captured in zip(*texts):
        if not alike(*(re.split(r"(-?\d+\.\d+(?:e-?\d+)?)", line) for line in (plain, captured))):
            return f"processes differ:\n    plain    {plain}\n    captured {captured}"
    return "" if len(texts[0]) == len(texts[1]) else "processes differ in length"


def final_report(failed):
    """Says what has failed, to which what the engine complains of is added; what else it reports."""
    report = json.loads(C.capture_report())
    if report["internal_errors"] or report["wrong"]:
        failed.append(f"({report['internal_errors']} internal errors, {report['wrong']} wrong)")
    if failed:
        print("failed:", *failed)
    return report


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
    final_report(failed)
    print(f"{len(chosen)} passed")
    sys.exit(bool(failed))
