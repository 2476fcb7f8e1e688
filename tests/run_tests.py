"""Runs the tests, several at a time, and prints one closing line `N passed, N failed`. Called by tests/run.sh.

What is a test:
- each program that ctest knows (unit tests, see tests/CMakeLists.txt);
- each Python file in a folder below tests/, unless its name starts with `_`: run under terra-run, exit status 0 is a
  pass. Files below tests/errors are user mistakes: their stderr ends with a traceback and then exactly the text of the
  .txt file beside them.

Comments before the first statement of a file change that:
    # run: --torch --capture=off NAME=value    options and environment of a run; repeated for more than one run
    # long run: NAME=value                     a further run, only with --long
    # interpreter: python3                     run by the system's python3 instead of terra-run
    # timeout: 300                             seconds instead of 120
    # exit: 2                                  expected exit status (errors: 1, others: 0)
    # long                                     only with --long
A closing output line `N passed` makes a test count as N. With --long tests also run in the configurations of
configurations.py.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from configurations import SANITIZED_PROGRAMS, SANITIZER_OPTIONS, more_runs

ROOT = pathlib.Path(__file__).resolve().parent.parent
SYSTEM_PYTHON = "/usr/bin/python3"
SHOWN_LINES = 80


@dataclasses.dataclass
class Test:
    name: str
    command: list
    environment: dict
    timeout: float = 120
    exit_status: int = 0
    expected_error: pathlib.Path = None


@dataclasses.dataclass
class Outcome:
    complaint: str  # empty: passed
    passed: int
    seconds: float
    output: str


def clean_environment():
    """The caller's environment without what would change the meaning of a test. Errors inside the engine are failures."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "TERRA_")) and k != "VIRTUAL_ENV"}
    return keep | {"PYTHONDONTWRITEBYTECODE": "1", "TERRA_SOURCE": str(ROOT), "TERRA_STRICT": "1"}


def unit_tests(build, label):
    listing = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True,
                             check=True)
    environment = clean_environment() | SANITIZER_OPTIONS
    for entry in json.loads(listing.stdout)["tests"]:
        # CPython frees little of what it holds when a process ends: leaks tell something only without it.
        embeds = entry["name"].startswith("unit/interpreter_hooks")
        leaks = {} if embeds else {"ASAN_OPTIONS": "detect_leaks=1"}
        yield Test(label + entry["name"], entry["command"], environment | leaks, timeout=300)


def directives(path):
    """The `# key: value` comments at the head of a file."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        match = re.fullmatch(r"#\s*(run|long run|interpreter|timeout|exit|long)(?::\s*(.*))?", line)
        if match:
            found.append((match[1], match[2] or ""))
    return found


def sanitized_programs(build, label):
    """Python tests under a terra-run with sanitizers, in which everything takes several times as long."""
    for test in python_tests(build, False):
        if any(re.match(tests, test.name) for preset, tests in SANITIZED_PROGRAMS if build.endswith(preset)):
            yield dataclasses.replace(test, name=label + test.name, environment=SANITIZER_OPTIONS | test.environment,
                                      timeout=10 * test.timeout)


def python_tests(build, include_long):
    for path in sorted((ROOT / "tests").glob("*/**/*.py")):
        relative = path.relative_to(ROOT / "tests")
        if relative.name.startswith("_") or relative.parts[0] == "unit":
            continue
        keys = directives(path)
        settings = dict(keys)
        if "long" in settings and not include_long:
            continue
        is_error = relative.parts[0] == "errors"
        runs = [value for key, value in keys if key == "run"] or [""]
        if include_long:
            runs += [value for key, value in keys if key == "long run"]
            runs += [f"{runs[0]} {words}".strip() for words in more_runs(relative.as_posix(), settings)]
        for run in runs:
            words = run.split()
            variables = dict(word.split("=", 1) for word in words if not word.startswith("-"))
            options = [word for word in words if word.startswith("-")]
            if settings.get("interpreter") == "python3":
                program = [SYSTEM_PYTHON]
            else:
                program = [str(pathlib.Path(build) / "bin" / "terra-run")]
            environment = clean_environment() | variables | {"TERRA_BUILD": str(pathlib.Path(build).resolve())}
            yield Test(f"{relative} {run}".strip(), [*program, *options, str(path)], environment,
                       timeout=float(settings.get("timeout", 120)), exit_status=int(settings.get("exit", is_error)),
                       expected_error=path.with_suffix(".txt") if is_error else None)


def wrong_message(expected_file, stderr):
    """Why the end of `stderr` is not the message in the file; empty when it is."""
    if not expected_file.exists():
        return f"there is no {expected_file.name} with the expected message"
    expected, actual = expected_file.read_text(encoding="utf-8").rstrip(), stderr.rstrip()
    traceback, found, rest = actual.rpartition("\n" + expected)
    if not found or rest:
        return f"the message differs; expected:\n{expected}\n"
    if not traceback.splitlines()[-1].startswith("  "):
        return f"{expected_file.name} holds only the end of the message"
    return ""


def counted(output):
    """How many tests an output says have passed."""
    lines = output.rstrip().splitlines() or [""]
    catch = re.fullmatch(r"All tests passed \(.* in (\d+) test cases?\)", lines[-1])
    own = re.fullmatch(r"(\d+) passed", lines[-1])
    return int((catch or own or {1: 1})[1])


def run(test):
    begin = time.monotonic()
    process = subprocess.Popen(test.command, cwd=ROOT, env=test.environment, text=True, errors="replace",
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)
    complaint = ""
    try:
        stdout, stderr = process.communicate(timeout=test.timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = process.communicate()
        complaint = f"took longer than {test.timeout:g} s"
    if not complaint and process.returncode < 0:
        complaint = f"killed by {signal.Signals(-process.returncode).name}"
    if not complaint and process.returncode != test.exit_status:
        complaint = f"exit status {process.returncode} instead of {test.exit_status}"
    if not complaint and test.expected_error:
        complaint = wrong_message(test.expected_error, stderr)
    return Outcome(complaint, counted(stdout), time.monotonic() - begin, stdout + stderr)


def main():
    parser = argparse.ArgumentParser(description="Runs Terra's tests.")
    parser.add_argument("--build", default="build/release", help="folder with the programs")
    parser.add_argument("--sanitized", action="append", default=[], metavar="FOLDER",
                        help="another build folder, for its unit tests and with --long for some programs")
    parser.add_argument("--long", action="store_true", help="also tests that take minutes")
    parser.add_argument("--only", default="", metavar="PATTERN", help="tests whose name matches this expression")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    arguments = parser.parse_args()
    # A shell's background job ignores Ctrl-C and so would every child; a handler of ours is not inherited.
    signal.signal(signal.SIGINT, signal.default_int_handler)

    tests = [*unit_tests(arguments.build, ""), *python_tests(arguments.build, arguments.long)]
    for folder in arguments.sanitized:
        label = f"{pathlib.Path(folder).name} "
        tests += unit_tests(folder, label)
        if arguments.long:
            tests += sanitized_programs(folder, label)
    tests = [test for test in tests if re.search(arguments.only, test.name)]

    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        running = {pool.submit(run, test): test for test in tests}
        for future in concurrent.futures.as_completed(running):
            test, outcome = running[future], future.result()
            print(f"{'FAIL' if outcome.complaint else 'ok  '} {test.name}  {outcome.seconds:.1f} s", flush=True)
            if outcome.complaint:
                failed += 1
                shown = outcome.output.rstrip().splitlines()[-SHOWN_LINES:]
                print(f"     {outcome.complaint}", *("     | " + line for line in shown), sep="\n", flush=True)
            else:
                passed += outcome.passed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
