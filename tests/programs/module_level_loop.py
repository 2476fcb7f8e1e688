# timeout: 240
"""The module-level loop: forward as a pair of graphs, step() as one update. Its output is the same with capture on, off,
checked and disturbed, and the report says that it was captured."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(folder, name, *options, **environment):
    """(output, report) of the loop."""
    report = folder / f"{name}.json"
    command = [sys.executable, "--torch", *options, f"--report={report}", str(HERE / "_loop.py"), str(folder / f"{name}.pt")]
    result = subprocess.run(command, env={**os.environ, "TERRA_EXACT": "1", **environment}, capture_output=True, text=True)
    assert result.returncode == 0, f"{name}: exit status {result.returncode}\n{result.stderr[-3000:]}"
    return result.stdout, json.loads(report.read_text())


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    plain, _ = run(folder, "off", "--capture=off")
    assert plain.count("\n") > 10, plain
    passed = 0
    for name, options, environment in (
        ("auto", [], {}),
        ("frame", ["--capture=frame"], {}),
        ("exact", [], {"TERRA_EXACT": "1"}),
        ("verify", ["--capture=verify"], {}),
        ("guards", [], {"TERRA_CHAOS": "guard=*@4"}),
        ("random", [], {"TERRA_CHAOS": "p=0.2,seed=5"}),
    ):
        output, report = run(folder, name, *options, **environment)
        assert output == plain, f"{name} differs from capture off:\n{output}\nexpected:\n{plain}"
        assert report["internal_errors"] == 0, f"{name}: {report['internal_errors']} internal errors"
        if name == "exact":  # elsewhere a clock decides what is worth capturing
            assert report["runs"]["frame"] >= 20, f"{name}: only {report['runs']['frame']} graph runs"
            assert report["ops"]["graph"] >= 60, f"{name}: ops {report['ops']}"  # the loader's own ops stay outside
        passed += 1
print(f"{passed} passed")
