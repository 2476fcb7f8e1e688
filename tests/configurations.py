"""The same tests again with one feature off, on one thread, with everything captured, verified or checked, and under sanitizers."""

import pathlib
import re

PIPELINE = pathlib.Path(__file__).resolve().parent.parent / "graph" / "passes" / "pipeline.cpp"
PASSES = re.findall(r'^ +\{"(\w+)", "', PIPELINE.read_text(encoding="utf-8"), re.MULTILINE)

ALL_BUT_CAPTURE = r"(errors|python/(?!capture|launcher))/"  # tests that don't say themselves how they are to be captured

# Every guard, assert and node in turn, at every few runs; cuts that gain nothing; runs that others overtake.
FAULTS = ["guard=*@2", "assert=*@2", "op=*@2", "interrupt=*@2", "p=0.3,seed=7", "cut=1",
          "release=0@2", "memory=1"]

# (options and environment that are added to those of a test's first run, expression for the paths of such tests)
CONFIGURATIONS = [
    *((f"TERRA_CHAOS={faults}", r"(semantics/(?!reasons)|programs/(?!scripts|leaving))") for faults in FAULTS),
    *((f"TERRA_PASSES=-{name}", r"(semantics|programs/(?!leaving))") for name in PASSES),
    *((f"HARNESS_MODE={mode}", r"semantics/") for mode in ("auto", "verify", "stress-verify")),
    ("TERRA_SELF_CHECK=all", r"semantics/(?!reasons)"),
    ("TERRA_ROUND_TRIP=1", r"(semantics|programs|python/(autograd|nn|ops|optim))"),
    ("--threads=1", r"(semantics|programs|python/(?!launcher))"),
    ("--capture=off", ALL_BUT_CAPTURE),
    ("--capture=coexec TERRA_RUNNER=turns", ALL_BUT_CAPTURE),  # short programs would end before it pays to put ops off
    ("--capture=stress", ALL_BUT_CAPTURE),
    ("--capture=verify", ALL_BUT_CAPTURE),
]

# (build folder, expression for the names of tests that run under its terra-run)
SANITIZED_PROGRAMS = [
    ("asan", r"(semantics|errors|python/(autograd|capture|recursive|tensor)/(?!memory\.|leaks))"),
    ("tsan", r"(python/capture/(guest|threads)|semantics/(guest|watchers|tensors|optimizers))"),
]

# CPython frees little of what it holds when a process ends: leaks tell something only without it. Its own allocator
# hides what is read behind its end. A size that no memory has is an error of the program's.
SANITIZER_OPTIONS = {
    "PYTHONMALLOC": "malloc",
    "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "TSAN_OPTIONS": "die_after_fork=0",
}


def more_runs(path, settings):
    """The configurations for the test at `path` (relative to tests/), whose head says `settings`."""
    if settings.get("interpreter", "terra-run") != "terra-run":
        return []
    first = settings.get("run", "")
    return [words for words, tests in CONFIGURATIONS
            if re.match(tests, path) and not (words.startswith("--capture") and "capture" in first.lower())]
