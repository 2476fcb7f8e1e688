"""terra-run gives the output and exit status of python3 for every kind of command line."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import zipfile

PYTHON3 = "/usr/bin/python3"

FILES = {
    "hello.py": "import sys\nprint('hello', __name__, __file__, sys.argv)\n",
    "raises.py": "def inner():\n    raise ValueError('no')\n\n\ndef outer():\n    inner()\n\n\nouter()\n",
    "chained.py": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('k') from e\n",
    "syntax.py": "def f(:\n",
    "paths.py": "import sys\nprint(sys.path, sys.prefix, sys.base_prefix, sys.exec_prefix, sys.version, sys.flags)\n",
    "modules.py": "import sys\nprint(sorted(sys.modules), "
                  "[f for f in map(repr, sys.meta_path) if 'PackageFinder' not in f])\n",
    "package/__init__.py": "",
    "package/__main__.py": "import sys\nprint('package', __spec__.name, sys.argv)\n",
    "interrupted.py": "import signal, os\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n    while True: pass\n"
                      "finally:\n    print('finally')\n",
    "thread.py": "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='worker')\nt.start()\nt.join()\n"
                 "print(threading.main_thread() is threading.current_thread(), threading.main_thread().ident == "
                 "threading.get_ident(), __import__('os').getpid() == threading.get_native_id())\n",
    "exits.py": "import atexit, sys\natexit.register(print, 'at exit')\nsys.exit('a message')\n",
    "forks.py": "import os\nif os.fork() == 0:\n    print('child', flush=True)\n    os._exit(3)\nprint(os.wait()[1] >> 8)\n",
    "recursion.py": "def f(): f()\ntry:\n    f()\nexcept RecursionError as e:\n    print(e)\n",
}

COMMANDS = [
    ["hello.py", "a", "--torch", "-c"], ["./hello.py"], ["package"], ["-m", "package", "x"], ["archive.zip", "y"],
    ["-c", "import sys; print(sys.argv, __name__)", "1", "-v"], ["-uc", "print(1)"], ["-", "arg"], [],
    ["raises.py"], ["chained.py"], ["syntax.py"], ["missing.py"], ["-m", "missing"], ["-m", "package.missing"],
    ["-c", "raise SystemExit(7)"], ["-c", "import sys; sys.exit()"], ["exits.py"], ["-c", "import os; os._exit(9)"],
    ["-c", "import os; os.abort()"], ["interrupted.py"], ["thread.py"], ["forks.py"], ["recursion.py"],
    ["-O", "-c", "assert False; print(__debug__)"], ["-OO", "paths.py"], ["-B", "paths.py"], ["paths.py"],
    ["-I", "paths.py"], ["-E", "paths.py"], ["-s", "paths.py"], ["-S", "paths.py"], ["-P", "paths.py"],
    ["-d", "-b", "-q", "paths.py"], ["-R", "paths.py"], ["modules.py"], ["-S", "modules.py"],
    ["-W", "error", "-c", "import warnings; warnings.warn('w')"],
    ["-Wignore", "-c", "import warnings; warnings.warn('w')"],
    ["-X", "utf8", "-c", "import sys; print(sys.flags.utf8_mode, sys._xoptions)"], ["-Xdev", "paths.py"],
    ["-X", "int_max_str_digits=640", "-c", "int('1' * 700)"],
    ["--check-hash-based-pycs", "never", "hello.py"], ["--check-hash-based-pycs", "sometimes", "hello.py"],
    ["-c"], ["-m"], ["--no-such-option"], ["-Z"], ["-V"], ["-VV"], ["-h"], ["--help"], ["--", "hello.py"],
    ["-x", "hello.py"], ["-i", "-c", "x = 5"], ["-v", "-S", "-c", "1"],
]


def outcome(program, command, folder, stdin):
    run = subprocess.run([program, *command], cwd=folder, input=stdin, capture_output=True, timeout=60)
    output = [stream.decode().replace(program, "PYTHON") for stream in (run.stdout, run.stderr)]
    if "-v" in command:
        output[1] = sorted({line.split()[1] for line in output[1].splitlines() if line.startswith("import ")})
    return run.returncode, *output


def without_addresses(value):
    return re.sub(r"0x[0-9a-f]+", "0x", str(value))


with tempfile.TemporaryDirectory() as folder:
    for name, text in FILES.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    with zipfile.ZipFile(pathlib.Path(folder, "archive.zip"), "w") as archive:
        archive.writestr("__main__.py", FILES["hello.py"])
    for command in COMMANDS:
        stdin = b"import sys\nprint('from stdin', sys.argv, __name__)\n"
        ours, theirs = (outcome(program, command, folder, stdin) for program in (sys.executable, PYTHON3))
        assert without_addresses(ours) == without_addresses(theirs), f"{command}:\n{ours}\n{theirs}"

# sys.executable, also of children and when the program is found on PATH.
CHILD = "import sys; print(sys.executable)"
PARENT = f"import subprocess, sys; print(sys.executable); subprocess.run([sys.executable, '-c', '{CHILD}'])"
folder, name = os.path.split(sys.executable)
variables = os.environ | {"PATH": folder + ":/usr/bin"}
found = subprocess.run([name, "-uc", PARENT], env=variables, capture_output=True, text=True)
assert found.stdout.split() == [sys.executable] * 2, found

# Ctrl-C ends the process by the signal, as shells expect.
process = subprocess.Popen([sys.executable, "-c", "print('ready', flush=True)\nwhile True: pass"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
process.stdout.readline()
process.send_signal(signal.SIGINT)
assert process.communicate(timeout=30)[1].rstrip().endswith("KeyboardInterrupt")
assert process.returncode == -signal.SIGINT
print(f"{len(COMMANDS) + 2} passed")
