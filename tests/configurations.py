"""The same tests again with one feature off, on one thread, or with everything verified: for `tests/run.sh --long`."""

import pathlib
import re

PIPELINE = pathlib.Path(__file__).resolve().parent.parent / "graph" / "passes" / "pipeline.cpp"
PASSES = re.findall(r'^ +\{"(\w+)", "', PIPELINE.read_text(encoding="utf-8"), re.MULTILINE)

# (options and environment that are added to those of a test's first run, expression for the paths of such tests)
CONFIGURATIONS = [
    *((f"TERRA_PASSES=-{name}", r"(semantics|programs)/") for name in PASSES),
    ("--threads=1", r"(semantics|programs|python/(?!launcher))"),
    ("--capture=off", r"(errors|python/(?!capture|launcher))/"),
    ("--capture=coexec", r"(errors|python/(?!capture|launcher))/"),
    ("--capture=stress", r"(errors|python/(?!capture|launcher))/"),
    ("--capture=verify", r"(errors|python/(?!capture|launcher))/"),
]


def more_runs(path):
    """The configurations for the test at `path` (relative to tests/)."""
    return [words for words, tests in CONFIGURATIONS if re.match(tests, path)]
