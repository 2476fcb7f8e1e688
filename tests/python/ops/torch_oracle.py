# run: --capture=off
# timeout: 600
"""Every sample of every op record against PyTorch: results with dtype and shape, random streams, first gradients. Needs a
python with PyTorch, named by TERRA_TORCH_PYTHON; without it there is nothing to compare."""

import math
import os
import pickle
import subprocess
import sys
import tempfile

import terra
from _samples import numbers_of, samples, tensors_in

oracle = os.environ.get("TERRA_TORCH_PYTHON")
if not oracle:
    print("TERRA_TORCH_PYTHON isn't set: nothing to compare with")
    sys.exit(0)


def described(t):
    return str(t.dtype).split(".")[-1], tuple(t.shape), numbers_of(t)


def gradients(call):
    """By the floating arguments, of the sum of all results times sin(1), sin(2), ..."""
    log = []
    args, kwargs = call.arguments(log, dtype=terra.float64)
    inputs = tensors_in(args) + tensors_in(kwargs)
    inputs = [t for t in inputs if t.is_floating_point() and not hasattr(t, "is_fixed")]
    for t in inputs:
        t.requires_grad_(True)
    loss = terra.zeros((), dtype=terra.float64)
    for t in tensors_in(call.run(args, kwargs)):
        if t.is_floating_point():
            weights = terra.tensor([math.sin(i + 1) for i in range(t.numel())], dtype=terra.float64)
            loss = loss + (t * weights.reshape(t.shape)).sum()
    if not loss.requires_grad:
        return log, [None] * len(inputs)
    found = terra.autograd.grad(loss, inputs, allow_unused=True)
    return log, [None if g is None else described(g) for g in found]


cases = []
for call in samples():
    log = []
    args, kwargs = call.arguments(log)
    terra.manual_seed(7)
    results = [described(t) for t in tensors_in(call.run(args, kwargs))]
    name = call.record["name"]
    kind = str(call.dtype).split(".")[-1]
    cases.append({"op": name, "args": call.text, "dtype": kind, "log": log, "results": results})
for call in samples(("float64",)):
    if call.differentiable:
        log, found = gradients(call)
        cases.append({"op": call.record["name"], "args": call.text, "dtype": "float64", "log": log, "gradients": found})

with tempfile.NamedTemporaryFile(suffix=".pickle") as file:
    pickle.dump(cases, file)
    file.flush()
    here = os.path.dirname(os.path.abspath(__file__))
    sys.exit(subprocess.run([oracle, os.path.join(here, "_torch_side.py"), file.name]).returncode)
