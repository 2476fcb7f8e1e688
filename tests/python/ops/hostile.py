# run: --capture=off
# long run: --capture=off HOSTILE_PAIRS=400
# timeout: 900
"""Every op on arguments that somebody may pass: without elements, without dimensions, of other dtypes, sizes and
layouts, with huge numbers; forward, backward and in place. In processes of their own, so that a crash or a hang is one
failure: no signal, no hang, no SystemError, and what computes agrees with the reference loops on dense operands.

`hostile.py NAME...` runs some ops only; with HOSTILE_PAIRS=N also N pairs of changes to each sample."""

import os
import pathlib
import queue
import re
import resource
import signal
import subprocess
import sys
import threading

CHILD = str(pathlib.Path(__file__).with_name("_hostile_child.py"))
SANITIZED = "ASAN_OPTIONS" in os.environ
SECONDS_A_CASE = 20 * (10 if SANITIZED else 1)
MEMORY = 2 << 30  # of addresses, of which a program keeps those that it once had
SHARES = 2
PAIRS = os.environ.get("HOSTILE_PAIRS", "0")

environment = dict(os.environ)
if SANITIZED:  # which reserves more address space than any limit allows
    environment["ASAN_OPTIONS"] += f":allocator_may_return_null=1:max_allocation_size_mb={MEMORY >> 20}"


def limited():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def lines_of(process):
    """The child's lines as they come; None once it is done, or silent for too long."""
    lines = queue.Queue()

    def read():
        for line in process.stdout:
            lines.put(line.rstrip())
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=SECONDS_A_CASE)
        except queue.Empty:
            return
        if line is None:
            process.wait()
            return
        yield line


def run_from(first, share, names, failures):
    """Runs a child from case `first` on. The number of cases that ran, and where to go on after a crash (0: done)."""
    process = subprocess.Popen(
        [sys.executable, "--capture=off", CHILD, str(first), str(share), str(SHARES), PAIRS, *names],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", env=environment, preexec_fn=limited,
    )  # fmt: skip
    complaints, current, passed = [], "", 0
    threading.Thread(target=lambda: complaints.append(process.stderr.read()), daemon=True).start()
    for line in lines_of(process):
        if line.startswith("> "):
            current = line[2:]
            passed += 1
        elif line.startswith("! "):
            failures.append(line[2:])
        elif match := re.fullmatch(r"= (\d+)", line):
            passed = int(match[1])
    if process.poll() is None:
        process.kill()
        process.wait()
        failures.append(f"{current}: took longer than {SECONDS_A_CASE} s")
    elif process.returncode == 0:
        return passed, 0
    else:
        status = process.returncode
        how = f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        told = " | ".join((complaints or [""])[0].rstrip().splitlines()[-12 if SANITIZED else -3 :])
        failures.append(f"{current}: {how} {told}")
    return passed, int(current.split()[0]) + 1 if current else 0


def run_share(share, names, failures, counts):
    first = 1
    while first:
        passed, first = run_from(first, share, names, failures)
        counts.append(passed)


failures, counts = [], []
workers = [threading.Thread(target=run_share, args=(share, sys.argv[1:], failures, counts)) for share in range(SHARES)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
for failure in failures:
    print(failure, file=sys.stderr)
if failures:
    print(f"{len(failures)} of {sum(counts)} failed")
    sys.exit(1)
print(f"{sum(counts)} passed")
