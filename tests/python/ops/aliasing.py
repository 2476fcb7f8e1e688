# run: --capture=off
"""Which results share memory with arguments: as the records say. Views always do, ops that may alias an argument may,
all others make memory of their own, whatever the arguments (samples with widths of 0, factors of 1 and the like are
among the records)."""

import sys

from _samples import samples, tensors_in


def extent(t):
    """The bytes from the first to the last element."""
    last = sum((n - 1) * s for n, s in zip(t.shape, t.stride()))
    return t.data_ptr(), t.data_ptr() + (last + 1) * t.element_size()


def overlap(a, b):
    if a.numel() == 0 or b.numel() == 0:
        return False
    (a0, a1), (b0, b1) = extent(a), extent(b)
    return a0 < b1 and b0 < a1


def complaint(call):
    args, kwargs = call.arguments()
    inputs = tensors_in(args) + tensors_in(kwargs)
    results = tensors_in(call.run(args, kwargs))
    for number, result in enumerate(results):
        if call.record["view"] and result.numel() and not overlap(result, inputs[0]):
            return f"result {number} is a copy, but the record says that it is a view"
        if not call.record["view"] and not call.record["may_alias"] and any(overlap(result, t) for t in inputs):
            return f"result {number} shares memory with an argument, but the record doesn't say that it may"
    return ""


passed, failures = 0, []
for call in samples():
    if call.record["writes"]:
        continue  # the results are arguments
    wrong = complaint(call)
    passed += not wrong
    if wrong:
        failures.append(f"{call}: {wrong}")
for failure in failures:
    print(failure, file=sys.stderr)
print(f"{passed} passed, {len(failures)} failed" if failures else f"{passed} passed")
sys.exit(bool(failures))
