# interpreter: python3
"""Configuring says which CPython it takes, and why it refuses another."""

import os
import pathlib
import subprocess
import tempfile

FIND_PYTHON = pathlib.Path(os.environ["TERRA_SOURCE"], "interpreter_hooks", "cpython", "find_python.cmake")

REFUSED = [
    ({"TERRA_PYTHON": "3.10"}, "TERRA_PYTHON=3.10 is not a CPython that Terra knows: set it to one of 3.11, 3.12."),
    ({"TERRA_PYTHON": ""}, "TERRA_PYTHON= is not a CPython that Terra knows: set it to one of 3.11, 3.12."),
    ({"TERRA_PYTHON": "3.12"},
     "Terra has not been verified with CPython 3.12: programs may crash, or compute something else under capture. "
     "Build with TERRA_PYTHON=3.11, or say -DTERRA_PYTHON_UNVERIFIED=ON."),
    ({"TERRA_PYTHON": "3.12", "TERRA_PYTHON_UNVERIFIED": "ON"},
     "Debian 12 has no CPython 3.12: name an interpreter of that version with -DTERRA_PYTHON_EXECUTABLE=PATH."),
    ({"TERRA_PYTHON": "3.11", "TERRA_PYTHON_EXECUTABLE": "/bin/false"},
     "TERRA_PYTHON_EXECUTABLE=/bin/false is no Python interpreter that runs."),
    ({"TERRA_PYTHON": "3.12", "TERRA_PYTHON_UNVERIFIED": "ON", "TERRA_PYTHON_EXECUTABLE": "/usr/bin/python3"},
     "/usr/bin/python3 is CPython 3.11, and TERRA_PYTHON asks for 3.12."),
]

with tempfile.TemporaryDirectory() as folder:
    script = pathlib.Path(folder, "configure.cmake")
    script.write_text(f"cmake_minimum_required(VERSION 3.25)\ninclude({FIND_PYTHON})\n", encoding="utf-8")
    for settings, sentence in REFUSED:
        words = [f"-D{name}={value}" for name, value in settings.items()]
        done = subprocess.run(["cmake", *words, "-P", script], capture_output=True, text=True)
        said = " ".join(done.stderr.split())
        assert done.returncode != 0 and sentence in said, (settings, said)
print(f"{len(REFUSED)} passed")
