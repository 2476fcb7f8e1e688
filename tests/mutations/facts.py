# run: --torch
# run: --torch TERRA_CHAOS=p=0,seed=1
# long run: --torch TERRA_MUTATIONS=all
# long run: --torch TERRA_MUTATIONS=all TERRA_CHAOS=p=0,seed=1
# timeout: 3000
"""What a captured call rests on is made false between calls, plainly against captured.

    terra-run --torch tests/mutations/facts.py [PART OF A PLACE'S NAME [MUTATION]] [-v]

A place (`_places.py`, `_protocols.py`, `_calls.py`) is a function that is called sixteen times; a mutation
(`_mutators.py`) comes before one of the calls 1 to 12 and is put back three calls later (where a kind of fact comes late,
before one of the last). Calls by position are served
without a frame, calls by name the short way, and with TERRA_CHAOS set all guards run. Every kind of fact and every row of
the call models must have a place. TERRA_MUTATIONS=all: each mutation before each of the twelve calls, in both ways."""
import gc
import os
import sys
import zlib

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "semantics"))
import _terra_C as C  # noqa: E402
from _harness import look  # noqa: E402

import _calls  # noqa: E402
import _places  # noqa: E402
import _protocols  # noqa: E402
from _mutators import snapshot  # noqa: E402

CALLS, LAST, AWAY = 16, 12, 3
ALL = os.environ.get("TERRA_MUTATIONS") == "all"
WAYS = ("position", "name")


def pictured(value, state):
    try:
        return look((value, state))
    except Exception as error:  # a class of the program's that has lost a method
        return type(error).__name__


def transcript(make, which, name, when, way, mode, kinds):
    """What each call gives, and the function. The kinds of facts that its entries rest on go to `kinds`."""
    f, arguments, targets, state = make()
    mutate, put_back = targets[which].mutators()[name], snapshot(targets[which].kept)
    lines, calls = [], getattr(make, "calls", CALLS)
    when += calls - CALLS
    try:
        for i in range(calls):
            if i in (when, calls - 1):
                kinds.update(*C.capture_facts(f))
            if i == when:
                try:
                    mutate()
                except Exception as error:
                    lines.append(type(error).__name__)
            if i == when + AWAY:
                put_back()
            given = arguments(i) if callable(arguments) else (torch.arange(3.0) * 0.5 + i % 2, *arguments)
            named = {}
            if way == "name":
                *given, named[f.__code__.co_varnames[len(given) - 1]] = given
            C.capture_mode(mode)
            try:
                value = f(*given, **named)  # called from here: a function that calls it would be captured with it inside
            except Exception as error:
                value = error
            finally:
                C.capture_mode("off")
            lines.append(pictured(value, state))
            del value, given, named
    finally:
        put_back()
    return lines, f


class Count:
    def __init__(self):
        self.programs = self.different = self.hits = self.calls = 0
        self.kinds, self.served = set(), set()


def compare(count, place, make, which, name, when, way, verbose):
    plain, _ = transcript(make, which, name, when, way, "off", set())
    C.capture_reset()
    captured, f = transcript(make, which, name, when, way, "stress", count.kinds)
    count.programs += 1
    count.hits += C.capture_frame(f)["hits"]
    count.calls += getattr(make, "calls", CALLS)
    if C.capture_frame(f)["hits"]:
        count.served.add(place)
    if plain != captured and repr(plain) != repr(captured):
        count.different += 1
        at = next((i for i, (a, b) in enumerate(zip(plain, captured)) if a != b), -1)
        print(f"DIFFERENT: {place}, target {which} by {name} before call {when}, called by {way}", flush=True)
        if verbose:
            print(f"  line {at}\n    plain    {plain[at]}\n    captured {captured[at]}\n{C.capture_explain(f)}")


def mutations(place, make):
    """(target, name, call before which, way)"""
    for which, target in enumerate(make()[2]):
        for name in target.mutators():
            chosen = zlib.crc32(f"{place} {which} {name}".encode())
            for when in range(1, LAST + 1) if ALL else (3 + chosen % (LAST - 3),):
                for way in WAYS if ALL else (WAYS[chosen // 16 % 2],):
                    yield which, name, when, way


def main():
    words, verbose = [a for a in sys.argv[1:] if not a.startswith("-")], "-v" in sys.argv
    every = [*_places.places.items(), *_protocols.places(torch, ()), *_calls.places(torch)]
    count = Count()
    for place, make in every:
        if words and words[0] not in place:
            continue
        for which, name, when, way in mutations(place, make):
            if not words[1:] or words[1] == name:
                compare(count, place, make, which, name, when, way, verbose)
    print(f"{count.programs} programs, {100 * count.hits / max(1, count.calls):.1f} % of the calls served by replay, "
          f"{count.different} different")
    missing = []
    if not words:
        missing = [f"no place rests on a fact of the kind {name}" for name, _ in C.capture_kinds() if name not in count.kinds]
        missing += [f"no place calls {row}" for row in _calls.uncovered(C.capture_models())]
        missing += [f"{place} was never served by replay" for place, _ in every
                    if place.startswith("call of") and place not in count.served]
        if len(count.served) < len(every) * 0.8:
            missing.append(f"only {len(count.served)} of {len(every)} places were served by replay")
    print(*missing, sep="\n", end="\n" if missing else "")
    if verbose and not words:
        print("not served:", *(place for place, _ in every if place not in count.served), sep="\n  ")
    gc.collect()
    sys.exit(bool(count.different or missing))


if __name__ == "__main__":
    main()
