"""What the programs share: a program is a function that returns a transcript, a list of lines. It must be the same with
and without capture, bit for bit in exact mode, and capture must have happened."""

import os

import torch
from torch import capture


def bits(value):
    """Floats as text without rounding; tensors as nested lists of that."""
    if isinstance(value, torch.Tensor):
        value = value.detach().tolist()
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return "[" + " ".join(bits(v) for v in value) + "]"
    return repr(value)


def difference(plain, captured):
    for i, (a, b) in enumerate(zip(plain, captured)):
        if a != b:
            return f"line {i}\n  without capture: {a[:300]}\n  with capture:    {b[:300]}"
    if len(plain) != len(captured):
        return f"{len(plain)} lines without capture, {len(captured)} with"
    return None


def check(program, replays):
    """Runs the program both ways; `replays` graph runs at least have to happen in the second."""
    with capture.mode("off"):
        plain = program()
    capture.reset()  # what earlier programs made of the functions that they share with this one
    before = capture.stats()
    captured = program()
    after = capture.stats()
    problem = difference(plain, captured)
    assert problem is None, f"{program.__name__} differs: {problem}"
    runs = after["runs"]["frame"] - before["runs"]["frame"]
    if os.environ.get("TERRA_CAPTURE", "auto") in ("auto", "frame") and "TERRA_CHAOS" not in os.environ:
        assert runs >= replays, f"{program.__name__}: {runs} graph runs, expected {replays} or more"
    assert after["internal_errors"] == before["internal_errors"], f"{program.__name__}: internal errors"
