"""Runs the cases of some ops for hostile.py, saying on standard output which one it is about to run.

Lines: `> N` before case N, `! text` a failure, `= n` at the end, the number of cases that ran."""

import os
import sys

import _terra_C as C
import terra
from _hostile import HUGE, cases_of, changed
from _samples import all_close, is_inexact, numbers_of, parts_of, samples, tensors_in

EXPECTED = (RuntimeError, ValueError, TypeError, IndexError, OverflowError, MemoryError, ZeroDivisionError)
MOST_COMPARED = 4096
TOLERANCE = {"float64": 1e-9, "float32": 1e-4, "float16": 4e-2, "bfloat16": 2e-1, "complex128": 1e-9}
SHOW_STORAGE = {"as_strided"}  # how their operand lies is part of the result
DRAW_AS_IT_LIES = {"bernoulli_by", "dropout", "normal", "rand_like", "randn_like", "randint_like"}  # numbers go by places in memory
UNHOLDABLE = "1e+300"  # by float32
# A matrix that loses its rank has gradients that are rounding errors divided by rounding errors.
NOISY_GRADIENTS = {"linalg_lstsq", "linalg_polar", "linalg_qr", "linalg_svd", "linalg_tensorinv", "pinverse", "qr", "qr_columns", "svd"}
NOISY = {"linalg_lstsq"}  # the same of results
RATES = {"adam_update"}  # their numbers mean something within [0, 1) alone
FACTORS = {"fft_c2c", "fft_r2c", "fft_c2r"}  # their numbers enlarge what rounding leaves of a zero


def say(text):
    os.write(1, (text + "\n").encode())


def dense(value):
    """The same elements without gaps."""
    if isinstance(value, terra.Tensor):
        return value.detach().contiguous().clone()
    return [dense(v) for v in value] if isinstance(value, (list, tuple)) else value


def evaluated(name, args, kwargs, backward):
    """Results and gradients of a call."""
    leaves = [t for t in tensors_in(args) + tensors_in(kwargs) if backward and is_inexact(t)]
    for t in leaves:
        t.requires_grad_(True)
    terra.manual_seed(7)
    results = tensors_in(getattr(C._ops, name)(*args, **kwargs))
    numbers = [r for r in results if r.requires_grad and r.numel() <= MOST_COMPARED]
    if numbers:
        total = sum((parts_of(r).double().sum() for r in numbers), terra.zeros((), dtype=terra.float64))
        total.backward()
    return results + [t.grad for t in leaves if t.grad is not None]


def difference(ours, meant, tolerance):
    if len(ours) != len(meant):
        return f"{len(ours)} results and gradients instead of {len(meant)}"
    for a, b in zip(ours, meant):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{a.dtype} {list(a.shape)} instead of {b.dtype} {list(b.shape)}"
        if a.numel() > MOST_COMPARED:
            continue
        x, y = numbers_of(a), numbers_of(b)
        allowed = tolerance if is_inexact(a) else 0
        if not all_close(x, y, allowed, allowed):
            return f"{x[:8]} instead of {y[:8]}"
    return ""


def tolerance_of(made):
    """That of the coarsest dtype that takes part."""
    taking_part = tensors_in(made[0]) + tensors_in(made[1])
    return max((TOLERANCE.get(str(t.dtype).split(".")[-1], 1e-4) for t in taking_part), default=1e-4)


def is_comparable(call, case, results):
    if call.record["random"] or results is None or any(r.numel() > MOST_COMPARED for r in results):
        return False
    groups, name = case.groups(), call.record["name"]
    if name in NOISY and case.changes:
        return False
    if any(change == UNHOLDABLE for _, _, change in case.changes):
        return False
    return not ("layout" in groups and name in SHOW_STORAGE | DRAW_AS_IT_LIES or "number" in groups and name in RATES | FACTORS)


def writes_overlapping(case, made):
    """Whether an operand that has been written shows one element in several places: which write was the last?"""
    return case.overlaps() and any(t._version for t in tensors_in(made[0]))


def attempt(name, made, backward):
    """(results, None) or (None, the exception)."""
    try:
        return evaluated(name, *made, backward), None
    except EXPECTED as error:
        return None, error


def run_case(call, case):
    """Nothing, or what is wrong. A call that computes gives what the reference loops give for dense operands."""
    record, name = call.record, call.record["name"]
    made = changed(call, case)
    if made is None or (record["result_is_list"] and asks_for_many(made)):
        return None
    backward = record["differentiable"] and call.differentiable
    detached = [tuple_of_tensors_kept(made[0]), {k: tuple_of_tensors_kept(v) for k, v in made[1].items()}]
    ours, error = attempt(name, detached, backward)
    if backward and name in NOISY_GRADIENTS and case.changes:
        backward = False
        ours, error = attempt(name, changed(call, case), backward)
    lies_anyhow = name in SHOW_STORAGE and not all(t.is_contiguous() for t in tensors_in(made[0]))
    if is_comparable(call, case, ours) and not writes_overlapping(case, made) and not lies_anyhow:
        meant = changed(call, case)
        C._use_reference_kernels(True)
        try:
            meant, refused = attempt(name, ([dense(a) for a in meant[0]], {k: dense(v) for k, v in meant[1].items()}), backward)
        finally:
            C._use_reference_kernels(False)
        if refused is not None:
            return f"computes where the reference raises {type(refused).__name__}: {refused}"
        if found := difference(ours, meant, tolerance_of(made)):
            return found
    if record["in_place"] and made[0] and isinstance(made[0][0], terra.Tensor):
        return run_in_place(call, case, ours, tolerance_of(made))
    return ""


def run_in_place(call, case, results, tolerance):
    """The in-place form, on a target with strides of its own; where it computes it gives what the plain form gives."""
    args, kwargs = changed(call, case)
    args = [tuple_of_tensors_kept(a) for a in args]
    target = args[0]
    try:
        terra.manual_seed(7)
        getattr(C._ops, call.record["name"] + "_")(*args, **kwargs)
    except EXPECTED:
        return ""
    if not is_comparable(call, case, results) or writes_overlapping(case, (args, kwargs)):
        return ""
    return difference([target], [results[0].detach().to(target.dtype)], tolerance)


def tuple_of_tensors_kept(value):
    """Tensors as leaves of their own over the same memory."""
    if isinstance(value, terra.Tensor):
        return value.detach()
    return [tuple_of_tensors_kept(v) for v in value] if isinstance(value, list) else value


def asks_for_many(made):
    flat = [v for part in (made[0], made[1].values()) for v in part]
    flat = [n for v in flat for n in (v if isinstance(v, (list, tuple)) else [v])]
    return any(isinstance(n, int) and n > HUGE for n in flat)


def main(first, share, shares, pairs, names):
    number = ran = 0
    for call in samples(("float32",)):
        if names and call.record["name"] not in names:
            continue
        for case in cases_of(call, pairs):
            number += 1
            if number < first or number % shares != share:
                continue
            say(f"> {number} {call}: {case.text}")
            try:
                wrong = run_case(call, case)
            except Exception as error:
                wrong = f"raised {type(error).__name__}: {error}"
            ran += wrong is not None
            if wrong:
                say(f"! {number} {call}: {case.text}: {wrong}")
    say(f"= {ran}")


main(*map(int, sys.argv[1:5]), sys.argv[5:])
