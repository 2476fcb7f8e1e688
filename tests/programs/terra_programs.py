# timeout: 600
"""The programs of models/terra print the same in all modes, and what they print is what they train."""
import os
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(os.environ["TERRA_SOURCE"]) / "models" / "terra"
SHARED = {"common", "images", "texts", "bert"}
MODES = (("off", {}), ("auto", {}), ("coexec", {"TERRA_RUNNER": "beside"}))


def run(program, mode, variables):
    command = [sys.executable, "--torch", f"--capture={mode}", str(program), "--steps", "6", "--log-every", "1", "--threads", "1"]
    result = subprocess.run(command, env=os.environ | variables | {"TERRA_EXACT": "1"}, capture_output=True, text=True, timeout=150)
    assert result.returncode == 0, (program.name, mode, variables, result.stderr[-2000:])
    return re.sub(r"[\d.]+ ms a step", "", result.stdout).splitlines()


programs = sorted(path for path in FOLDER.glob("*.py") if path.stem not in SHARED)
assert len(programs) == 10, programs
for program in programs:
    plain = run(program, *MODES[0])
    losses = [float(loss) for loss in re.findall(r"step \d+/6: loss ([\d.]+)", "\n".join(plain))]
    assert len(losses) == 6 and len(set(losses)) > 3, (program.name, plain)
    for mode in MODES[1:]:
        assert run(program, *mode) == plain, (program.name, mode)
print(f"{len(programs)} passed")
