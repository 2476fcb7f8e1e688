"""The tree network that is written by hand in C++ trains."""

import pathlib
import subprocess
import sys

program = pathlib.Path(sys.executable).parent / "recursion-example"
done = subprocess.run([program], capture_output=True, text=True, timeout=120)
assert done.returncode == 0, done.stdout + done.stderr
lines = done.stdout.splitlines()
assert any(line.startswith("graph @encode(") for line in lines), lines
assert any("$call @encode(" in line for line in lines), lines
losses = [float(line.split()[-1]) for line in lines if line.startswith("step ")]
assert losses[-1] < 0.5 * losses[0], losses
