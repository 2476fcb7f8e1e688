"""Runs CPython's own tests under python3 and under terra-run and compares the outcome of every single test."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

TERRA_RUN = str(pathlib.Path(os.environ.get("TERRA_BUILD", "build/release"), "bin", "terra-run").resolve())
PYTHON3 = "/usr/bin/python3"
PLAIN, HOOKED, STRESS = "terra-run", "terra-run with the passthrough hook", "terra-run --capture=stress"
WAYS = {PLAIN: {}, HOOKED: {"TERRA_HOOK": "passthrough"}, STRESS: {"TERRA_CAPTURE": "stress"}}

# Tests that terra-run does not pass although python3 does: in which ways, and why that is right.
COPIED = "expects a copied program to look for its standard library beside itself; ours is the linked interpreter's"
COUNTED = "counts the collector's objects, and so the weak reference with which an entry watches a class"
REPLAYED = "expects a function to be warm after some calls, and calls that are replayed warm nothing"
UNSPECIALIZED = "expects specialised calls in warm code, which CPython does without under any hook"
DIFFERENT = {
    "test.test_venv.BasicTest.test_zippath_from_non_installed_posix": ((PLAIN, HOOKED, STRESS), COPIED),
    "test.test_descr.ClassPropertiesAndMethods.test_slots": ((STRESS,), COUNTED),
    "test.test_dis.DisTests.test_super_instructions": ((STRESS,), REPLAYED),
    "test.test_dis.DisTests.test_loop_quicken": ((HOOKED, STRESS), UNSPECIALIZED),
    "test.test_dis.DisWithFileTests.test_loop_quicken": ((HOOKED, STRESS), UNSPECIALIZED),
}

# What the frame tier did in the runs under stress, all modules together.
captured = {"recordings": 0, "replays": 0, "internal_errors": 0}


def outcomes(program, module, variables):
    """Test -> 'passed', 'skipped', 'failure' or 'error'."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.xml")
        reports = {"TERRA_REPORT": str(pathlib.Path(folder, "capture-%p.json"))} if "TERRA_CAPTURE" in variables else {}
        run = subprocess.run([program, "-m", "test", "--junit-xml", str(report), module], cwd=folder, text=True,
                             env=os.environ | variables | reports, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for file in pathlib.Path(folder).glob("capture-*.json"):
            if text := file.read_text(encoding="utf-8"):  # empty: a process that was killed while it wrote
                for key in captured:
                    captured[key] += json.loads(text)[key]
        if not report.exists():
            return {module: f"did not run, exit status {run.returncode}:\n{run.stdout[-2000:]}"}
        found = {}
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            details = [child.tag for child in case if child.tag in ("skipped", "failure", "error")]
            found[case.get("name", module)] = details[0] if details else "passed"
        return found


def differences(module, way, theirs):
    ours = outcomes(TERRA_RUN, module, WAYS[way])
    for test in sorted(theirs.keys() | ours.keys()):
        if theirs.get(test) != ours.get(test):
            yield test, f"{test}: {theirs.get(test)} under python3, {ours.get(test)} under {way}"
    if not any(outcome == "passed" for outcome in ours.values()):
        yield module, f"{module}: nothing passed: {ours}"


def compare(modules):
    """Compares all tests of the modules in each way of running; ends the process with the result."""
    complaints = []
    for module in modules:
        theirs = outcomes(PYTHON3, module, {})
        for way in WAYS:
            known = {test for test, (ways, _) in DIFFERENT.items()
                     if way in ways and test.startswith(f"test.{module}.")}
            found = dict(differences(module, way, theirs))
            if found.keys() - known:
                # Some of these tests depend on timing; what counts shows twice.
                again = dict(differences(module, way, outcomes(PYTHON3, module, {})))
                found = {test: text for test, text in again.items() if test in found}
            complaints += [text for test, text in found.items() if test not in known]
            complaints += [f"{test} passes under {way}: take it out of DIFFERENT" for test in known - found.keys()]
    if captured["internal_errors"]:
        complaints.append(f"{captured['internal_errors']} internal errors under stress")
    if min(captured["recordings"], captured["replays"]) < 100 * len(modules):
        complaints.append(f"too little was captured under stress: {captured}")
    print("\n".join(complaints) or f"{len(modules) * len(WAYS)} passed")
    sys.exit(bool(complaints))
