# timeout: 600
"""Every sample of every op record as a function of its tensors: captured = eager, results and gradients."""

import math
import sys

import _terra_C as C
import terra
from _samples import all_close, is_inexact, numbers_of, parts_of, samples, source_of, tensors_in

only = [a for a in sys.argv[1:] if a != "-v"]
CALLS = 7
failures, passed, ops_of = [], 0, {}


def function_of(call, number):
    """A function of the tensors among the arguments of a call, under a name of its own."""
    args, kwargs = call.arguments()
    tensors = []
    parts = [source_of(v, tensors) for v in args]
    parts += [f"{k}={source_of(v, tensors)}" for k, v in kwargs.items()]
    name = f"sample_{number}"
    parameters = ", ".join(f"t{i}" for i in range(len(tensors)))
    text = f"def {name}({parameters}):\n    return op({', '.join(parts)})\n"
    names = {"terra": terra, "torch": terra, "op": getattr(C._ops, call.record["name"])}
    exec(compile(text, f"<{call}>", "exec"), names)
    return name, names[name], tensors


def outcome(function, tensors, differentiable):
    """Results and gradients of one call on copies of the tensors."""
    terra.manual_seed(7)
    tensors = [t.clone().requires_grad_(differentiable and is_inexact(t)) for t in tensors]
    results = tensors_in(function(*tensors))
    loss = 0
    for t in results:
        if t.requires_grad:
            parts = parts_of(t)
            weights = terra.tensor([math.sin(i + 1) for i in range(parts.numel())], dtype=parts.dtype)
            loss = loss + (parts * weights.reshape(parts.shape)).sum()
    wanted = [t for t in tensors if t.requires_grad]
    gradients = []
    if isinstance(loss, terra.Tensor):
        gradients = terra.autograd.grad(loss, wanted, allow_unused=True)
    return [None if t is None else (str(t.dtype), tuple(t.shape), numbers_of(t)) for t in [*results, *gradients]]


def same(a, b):
    if a is None or b is None:
        return a is b
    return a[:2] == b[:2] and all_close(a[2], b[2], 1e-5, 1e-5)


for number, call in enumerate(samples(("float32",))):
    if only and call.record["name"] not in only:
        continue
    for differentiable in {False, call.differentiable}:
        name, function, tensors = function_of(call, f"{number}_{int(differentiable)}")
        if not tensors:
            continue
        try:
            with terra.capture.mode("off"):
                eager = outcome(function, tensors, differentiable)
            for _ in range(CALLS):
                captured = outcome(function, tensors, differentiable)
        except Exception as error:
            failures.append(f"{call}: raised {type(error).__name__}: {error}")
            continue
        ops_of[name] = call.record["name"]
        if len(eager) == len(captured) and all(map(same, eager, captured)):
            passed += 1
        else:
            failures.append(f"{call}, gradients {differentiable}:\n    eager    {eager}\n    captured {captured}")

# Why a function of one op may stay uncaptured: sizes that depend on values, and results that are named tuples.
ALLOWED = ("depend on element values", "depend on the values of", "calls something that is not modelled")
given_up = {}
for frame in terra.capture.stats()["frames"]:
    if frame["name"] in ops_of and frame["state"] != "captured":
        reason = (frame["reason"] or {}).get("text", "")
        given_up.setdefault(f"{frame['state']}, {reason}", set()).add(ops_of[frame["name"]])
        if not any(text in reason for text in ALLOWED):
            failures.append(f"{ops_of[frame['name']]} isn't captured: {frame['state']}, {reason}")
if "-v" in sys.argv:
    for reason, names in given_up.items():
        print(f"not captured: {reason}: {' '.join(sorted(names))}")
for failure in failures:
    print(failure, file=sys.stderr)
print(f"{passed} passed, {len(failures)} failed" if failures else f"{passed} passed")
sys.exit(bool(failures))
