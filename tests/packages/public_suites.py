# long
# interpreter: python3
# timeout: 5400
"""The test suites of public packages that know nothing of tensors, with terra imported and everything captured: each test
has to end as it does under python3. The packages come from PyPI; without it nothing is tested.

    python3 tests/packages/public_suites.py [PACKAGE...]"""

import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree

TERRA_RUN = str(pathlib.Path(os.environ.get("TERRA_BUILD", "build/release"), "bin", "terra-run").resolve())
PYTHON3 = "/usr/bin/python3"

# Source distribution -> (where its tests are, what they need)
SUITES = {
    "jinja2": ("tests", ["trio", "markupsafe"]),
    "more-itertools": ("tests", []),
    "toolz": ("toolz/tests", []),
    "networkx": ("networkx", []),
}

# Tests that end otherwise, and why that is right.
DIFFERENT = {}

TIMEOUT = 2400  # seconds, of a suite
RUN_TESTS = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"


def fetched(folder):
    """The interpreter of a virtual environment with pytest, or None where PyPI can't be reached."""
    subprocess.run([PYTHON3, "-m", "venv", folder / "venv"], check=True)
    pip = folder / "venv" / "bin" / "pip"
    got = subprocess.run([pip, "-q", "install", "pytest", "setuptools"], capture_output=True, text=True)
    return pip if got.returncode == 0 else None


def unpacked(pip, package, needs, folder):
    """The folder of the package's sources. Installs what its tests need."""
    subprocess.run([pip, "-q", "install", package, *needs], check=True)
    subprocess.run([pip, "-q", "download", "--no-deps", "--no-binary", ":all:", "-d", folder / package, package], check=True)
    [archive] = (folder / package).glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder / package)
    [sources] = (path for path in (folder / package).iterdir() if path.is_dir())
    return sources


def outcomes(command, sources, tests, environment):
    """Test -> 'passed', 'skipped', 'failure' or 'error'."""
    report = sources / "report.xml"
    report.unlink(missing_ok=True)
    run = subprocess.run([*command, "-q", "-p", "no:cacheprovider", f"--junit-xml={report}", tests], cwd=sources,
                         env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT)
    if not report.exists():
        return {tests: f"did not run, exit status {run.returncode}:\n{run.stdout[-2000:]}"}
    found = {}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        details = [child.tag for child in case if child.tag in ("skipped", "failure", "error")]
        found[f"{case.get('classname')}.{case.get('name')}"] = details[0] if details else "passed"
    return found


def compare(package, sources, packages):
    """Tests that passed, and sentences about those that end otherwise."""
    tests, _ = SUITES[package]
    plain = os.environ | {"PYTHONPATH": f"{sources / 'src'}:{sources}:{packages}", "PYTHONHASHSEED": "0"}
    capture = sources / "capture.json"
    captured = plain | {"TERRA_CAPTURE": "stress", "TERRA_STRICT": "1", "TERRA_REPORT": str(capture)}
    theirs = outcomes([PYTHON3, "-c", RUN_TESTS], sources, tests, plain)
    ours = outcomes([TERRA_RUN, "-c", "import terra; " + RUN_TESTS], sources, tests, captured)
    complaints = [f"{package}: {test}: {theirs.get(test)} under python3, {ours.get(test)} under terra-run"
                  for test in sorted(theirs.keys() | ours.keys())
                  if theirs.get(test) != ours.get(test) and test not in DIFFERENT]
    passed = sum(outcome == "passed" for outcome in ours.values())
    report = json.loads(capture.read_text(encoding="utf-8")) if capture.exists() else {}
    replays = report.get("replays", 0)
    print(f"{package}: {passed} of {len(theirs)} tests pass, {replays} calls replayed")
    if passed < 100 or replays < 100:
        complaints.append(f"{package}: too little was tested: {passed} tests, {replays} replays")
    if report.get("internal_errors"):
        complaints.append(f"{package}: {report['internal_errors']} internal errors")
    return passed, complaints


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pip = fetched(folder)
        if pip is None:
            print("PyPI can't be reached: nothing was tested")
            return 0
        packages = next((folder / "venv" / "lib").glob("python3*")) / "site-packages"
        total, complaints = 0, []
        for package in sys.argv[1:] or SUITES:
            passed, found = compare(package, unpacked(pip, package, SUITES[package][1], folder), packages)
            total += passed
            complaints += found
    print("\n".join(complaints))
    print(f"{total} passed")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
