# run: --torch TERRA_EXACT=1
# run: --torch TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: --torch TERRA_EXACT=1 TERRA_CHAOS=op=*@3
# run: --torch TERRA_EXACT=1 TERRA_CHAOS=assert=*@2
"""Functions of modules are replaced for a few calls and put back, in every mode of capture: results are those of plain
Python, no mode crashes, and none finds a difference where there is none."""
import builtins
import functools
import importlib
import json
import math
import operator
import random
import time

import _terra_C as C
import torch

MODES = ("off", "auto", "verify", "stress", "stress-verify")
CALLS, PATCHED, RESTORED = 16, 6, 10

# (module, name, expression with x (a tensor), n (a number) and l (a list); what takes its place)
CLOCK = "x * (1 if {} > 1000 else 2)"
PATCHES = [
    *(("time", name, CLOCK.format(f"time.{name}()").replace("1000", "-1"), "lambda: -10 ** 18")
      for name in ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time",
                   "process_time_ns", "thread_time", "thread_time_ns")),
    ("random", "random", "x * (random.random() < 2)", "lambda: 5.0"),
    ("math", "sqrt", "x * math.sqrt(n)", "lambda n: n + 0.25"),
    ("math", "floor", "x + math.floor(n * 1.5)", "lambda n: -1"),
    ("math", "prod", "x + math.prod(l)", "lambda l: 7"),
    ("operator", "add", "operator.add(x, n)", "lambda a, b: a - b"),
    ("operator", "itemgetter", "x * operator.itemgetter(1)(l)", "lambda i: lambda l: 9"),
    ("functools", "partial", "functools.partial(pow, 2)(n) + x", "lambda f, a: lambda b: 3"),
    ("builtins", "len", "x * len(l)", "lambda l: 11"),
    ("builtins", "sum", "x + sum(l)", "lambda l: 4"),
    ("builtins", "max", "x * max(l)", "lambda l: 2"),
    ("builtins", "abs", "abs(x - 2)", "lambda x: x"),
    ("builtins", "range", "sum((x * i for i in range(3)), x)", "lambda n: [5]"),
    ("builtins", "zip", "sum((x * i * j for i, j in zip(l, l)), x)", "lambda *all: []"),
    ("builtins", "enumerate", "sum((x * i for i, _ in enumerate(l)), x)", "lambda l: [(2, 3)]"),
    ("builtins", "sorted", "x * sorted(l)[0]", "lambda l: [8]"),
    ("builtins", "isinstance", "x * isinstance(n, int)", "lambda o, t: 6"),
    ("builtins", "getattr", "x * getattr(l, '__len__')()", "lambda o, n: lambda: 13"),
    ("builtins", "print", "(print(end=''), x * 2)[1]", "lambda **named: None"),
    ("builtins", "float", "x * float(n)", "lambda n: 0.5"),
    ("builtins", "str", "x * len(str(n + 1))", "lambda n: 'long text'"),
    ("torch", "exp", "torch.exp(x)", "lambda x: x - 1"),
    ("torch", "zeros", "x + torch.zeros(2)", "lambda n: 3"),
    ("torch.nn.functional", "relu", "torch.nn.functional.relu(x - 2)", "lambda x: x * 5"),
]
NAMES = {"time": time, "random": random, "math": math, "operator": operator, "functools": functools, "torch": torch}


def transcript(mode, module, name, expression, replacement):
    holder = importlib.import_module(module)
    real, other = getattr(holder, name), eval(replacement, dict(NAMES))
    names = {**NAMES, "__name__": "patched"}
    exec(f"def f(x, n, l):\n    return {expression}, x + 1\n", names)
    lines = []
    C.capture_mode(mode)
    try:
        for i in range(CALLS):
            x, n, l = torch.arange(2.0) + i, 3, [1, 2, 3]
            if i == PATCHED:
                setattr(holder, name, other)
            if i == RESTORED:
                setattr(holder, name, real)
            lines.append([value.tolist() for value in names["f"](x, n, l)])
    finally:
        setattr(holder, name, real)
        C.capture_mode("off")
    return lines


passed = 0
for patch in PATCHES:
    plain = transcript("off", *patch)
    assert plain[PATCHED] != plain[RESTORED] or patch[1] in ("print", "zeros"), patch
    for mode in MODES[1:]:
        captured = transcript(mode, *patch)
        for i, (a, b) in enumerate(zip(plain, captured)):
            assert a == b, f"{mode}, {patch[0]}.{patch[1]}, call {i}: {b}, plainly {a}"
        passed += 1
report = json.loads(C.capture_report())
assert report["internal_errors"] == 0 and report["wrong"] == 0, report
assert report["replays"] > 0
assert builtins.len([1]) == 1
print(f"{passed} passed")
