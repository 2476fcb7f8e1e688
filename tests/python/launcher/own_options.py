"""terra-run's own options: what they set, where they count, and what is said about wrong ones."""

import os
import subprocess
import sys
import tempfile

SHOW = "import os, sys; print(sys.argv[1:], sorted(kv for kv in os.environ.items() if kv[0].startswith('TERRA_')))"
CLEAN = {key: value for key, value in os.environ.items() if not key.startswith("TERRA_")}


def run(*arguments, **variables):
    return subprocess.run([sys.executable, *arguments], env=CLEAN | variables, capture_output=True, text=True)


def shown(*arguments, **variables):
    result = run(*arguments, **variables)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


# Each option is a variable, so that children inherit it.
assert shown("-c", SHOW) == "[] []"
VARIABLES = [("TERRA_CAPTURE", "off"), ("TERRA_EXPLAIN", "1"), ("TERRA_LOG", "debug"), ("TERRA_THREADS", "3")]
OPTIONS = ["--capture=off", "-u", "--threads=3", "-W", "ignore", "--log=debug", "--explain"]
assert shown(*OPTIONS, "-c", SHOW, "x") == f"['x'] {VARIABLES}"

# Behind the program's name everything belongs to the program, also where that name is in a cluster of flags.
for start in (["-c", SHOW], ["-uc", SHOW], ["-Bc" + SHOW]):
    assert shown(*start, "--torch", "--threads=x") == "['--torch', '--threads=x'] []"
assert shown("-X", "--torch", "-c", SHOW) == "[] []"  # the value of a flag is no option

# A file is named from where the run started, and the process that writes it is the outermost one.
with tempfile.TemporaryDirectory() as folder:
    child = "import os, subprocess, sys; os.chdir('/'); print(os.getpid(), flush=True);" \
            "subprocess.run([sys.executable, *sys.argv[1:]])"
    nested = ["-c", "import os; print(os.getpid(), os.environ['TERRA_REPORT'], os.environ['TERRA_MAIN_PROCESS'])"]
    inside = subprocess.run([sys.executable, "--report=r.json", "-c", child, *nested], cwd=folder, env=CLEAN,
                            capture_output=True, text=True).stdout.split()
    assert inside[2:] == [os.path.join(os.path.realpath(folder), "r.json"), inside[0]], inside
    assert inside[1] != inside[0]
    report = os.path.join(folder, "own.json")
    own = subprocess.run([sys.executable, "-c", child, f"--report={report}", *nested], cwd=folder, env=CLEAN,
                         capture_output=True, text=True).stdout.split()
    assert own[2:] == [report, own[1]] and os.path.exists(report), own
    is_main = "import os; print(os.environ['TERRA_MAIN_PROCESS'] == str(os.getpid()))"
    assert shown("-c", is_main, TERRA_REPORT=os.path.join(folder, "inherited.json")) == "True"

# Mistakes.
for wrong, complaint in {
    "--capture=fast": "option --capture is one of auto|off|frame|coexec|verify|stress|stress-verify, not 'fast'",
    "--capture": "option --capture is one of auto|off|frame|coexec|verify|stress|stress-verify, not ''",
    "--capture=auto|off": "option --capture is one of auto|off|frame|coexec|verify|stress|stress-verify, not 'auto|off'",
    "--threads=0": "option --threads is a whole number of at least 1, not '0'",
    "--threads=-1": "option --threads is a whole number of at least 1, not '-1'",
    "--threads=1000000": "option --threads is a whole number of at least 1, not '1000000'",
    "--report": "option --report needs the name of a file after a '='",
    "--torch=1": "option --torch takes no value",
}.items():
    result = run(wrong, "-c", "print('ran')")
    assert (result.returncode, result.stdout) == (2, ""), result
    assert result.stderr.splitlines()[0] == f"terra-run: {complaint}.", result.stderr

# Words about itself.
assert shown("-V") == f"Python {sys.version.split()[0]}"
assert shown("--version").splitlines()[0] == shown("-V") and shown("--version").splitlines()[1].startswith("Terra ")
for option in ("--torch", "--capture=auto|off", "--threads=N", "--report-html=FILE", "TERRA_TRACE", "TERRA_EXACT=1"):
    assert option in shown("--help-terra")

# What the environment says is checked as well.
for name, wrong, complaint in (("TERRA_CAPTURE", "fast", "is one of auto|off|frame|coexec|verify|stress|stress-verify"),
                               ("TERRA_THREADS", "0", "is a whole number of at least 1"),
                               ("TERRA_LOG", "loud", "is one of off|error|warn|info|debug|trace")):
    result = run("-c", "print('ran')", **{name: wrong})
    assert (result.returncode, result.stdout) == (2, ""), result
    assert result.stderr.splitlines()[0] == f"terra-run: variable {name} {complaint}, not '{wrong}'.", result.stderr
assert shown("-c", "print('ran')", TERRA_CAPTURE="") == "ran"

# The mode has a name that it answers to.
result = run("--capture=coexec", "-c", "import terra, _terra_C; print(_terra_C.capture_mode('coexec'))")
assert (result.returncode, result.stdout, result.stderr) == (0, "coexec\n", ""), result
print("24 passed")
