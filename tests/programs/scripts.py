# interpreter: python3
# timeout: 600
# run: MODE=off
# run: MODE=auto
# run: MODE=verify
"""Programs as people write them for PyTorch, against what PyTorch 2.15 printed for them (scripts/NAME.txt): plainly, under
capture and under verify. Text must be equal, numbers within two thousandths. Whether capture of so short a program pays is a
matter of times, but of nine in ten something is captured on any machine."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SCRIPTS = pathlib.Path(__file__).resolve().parent / "scripts"
TERRA_RUN = pathlib.Path(os.environ["TERRA_BUILD"]) / "bin" / "terra-run"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def difference(expected, actual):
    """The first line that differs, with what was expected; empty if none does."""
    wanted, got = expected.splitlines(), actual.splitlines()
    for i in range(max(len(wanted), len(got))):
        a, b = (lines[i] if i < len(lines) else "(no line)" for lines in (wanted, got))
        pairs = zip(map(float, NUMBER.findall(a)), map(float, NUMBER.findall(b)))
        if NUMBER.sub("#", a) != NUMBER.sub("#", b) or any(abs(x - y) > 2e-3 * (1 + abs(x)) for x, y in pairs):
            return f"line {i + 1}: expected {a!r}, got {b!r}"
    return ""


def run(script, mode, report):
    """What is wrong with a run, and whether anything was captured."""
    command = [TERRA_RUN, "--torch", f"--capture={mode}", f"--report={report}", script]
    process = subprocess.run(command, capture_output=True, text=True)
    complaint = difference(script.with_name(script.stem[1:] + ".txt").read_text(), process.stdout)
    if complaint or process.returncode:
        return f"{complaint}; exit status {process.returncode}\n{process.stderr}", False
    counts = json.loads(pathlib.Path(report).read_text())
    if counts["internal_errors"]:
        return f"{counts['internal_errors']} internal errors", False
    return "", counts["captures"] > 0


def main():
    failed, captured, mode = 0, 0, os.environ["MODE"]
    scripts = sorted(SCRIPTS.glob("_*.py"))
    with tempfile.TemporaryDirectory() as folder:
        for script in scripts:
            complaint, is_captured = run(script, mode, os.path.join(folder, "report.json"))
            captured += is_captured
            if complaint:
                failed += 1
                print(f"{script.stem[1:]} with --capture={mode}: {complaint}")
    if mode == "auto" and captured < 0.9 * len(scripts):
        failed += 1
        print(f"of {len(scripts)} programs only {captured} were captured in any part")
    print(f"{len(scripts) - failed} passed")
    sys.exit(bool(failed))


main()
