"""Programs that end early: sys.exit in a captured function, a script that is not there, a script that raises, a closed
output. The exit status and what is left behind are those of plain Python."""

import os
import pathlib
import subprocess
import sys
import tempfile


def run(code, *options):
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder) / "script.py"
        script.write_text(code)
        return subprocess.run([sys.executable, "--torch", *options, str(script)], capture_output=True, text=True, cwd=folder)


EXIT = """
import atexit, sys, torch
atexit.register(lambda: print("at exit", w.tolist()))
w = torch.zeros(2)
def f(x, i):
    w.add_(x)
    if i == 30:
        sys.exit(7)
    return w * 2
try:
    for i in range(100):
        f(torch.ones(2), i)
finally:
    print("finally", i)
"""
result = run(EXIT)
assert result.returncode == 7, (result.returncode, result.stderr)
assert result.stdout == "finally 30\nat exit [31.0, 31.0]\n", result.stdout
assert result.stderr == "", result.stderr

RAISE = """
import torch
def f(x):
    return x.view(5)
for i in range(30):
    (torch.ones(5) if i < 25 else torch.ones(4)).view(-1)
    f(torch.ones(5) if i < 25 else torch.ones(4))
"""
result = run(RAISE)
assert result.returncode == 1, result.returncode
lines = result.stderr.rstrip().split("\n")
assert lines[0] == "Traceback (most recent call last):", result.stderr
assert any("line 7, in <module>" in line for line in lines) and any("line 4, in f" in line for line in lines), result.stderr
assert lines[-1] == "RuntimeError: shape '[5]' is invalid for input of size 4", result.stderr

result = subprocess.run([sys.executable, "--torch", "no_such_script.py"], capture_output=True, text=True)
assert result.returncode == 2 and "can't open file" in result.stderr, (result.returncode, result.stderr)

HARD = """
import os, torch
def f(x):
    return x * 2
for i in range(30):
    f(torch.ones(2))
os._exit(5)
"""
result = run(HARD)
assert result.returncode == 5 and result.stderr == "", (result.returncode, result.stderr)

THREADS = """
import threading, torch
def f(x):
    return (x * 2 + 1).sum()
results = []
threads = [threading.Thread(target=lambda: results.append([f(torch.ones(3) * i).item() for i in range(200)])) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
assert len(results) == 4 and all(r == [3 + 6.0 * i for i in range(200)] for r in results)
print("done")
"""
result = run(THREADS)
assert result.stdout == "done\n", (result.stdout, result.stderr)
print("5 passed")
