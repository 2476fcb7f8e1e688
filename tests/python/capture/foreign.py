"""Another frame evaluator (PEP 523), put in before or after ours, which passes frames on to ours or doesn't: one log record
and plain execution. Subinterpreters are refused with a sentence."""
import os
import subprocess
import sys

FOREIGN = '''
import ctypes, mmap
api = ctypes.pythonapi
api.PyInterpreterState_Main.restype = ctypes.c_void_p
api._PyInterpreterState_SetEvalFrameFunc.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
api._PyInterpreterState_GetEvalFrameFunc.argtypes = [ctypes.c_void_p]
api._PyInterpreterState_GetEvalFrameFunc.restype = ctypes.c_void_p
default = ctypes.cast(api._PyEval_EvalFrameDefault, ctypes.c_void_p).value
main = api.PyInterpreterState_Main()
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
def take_over(next=default):  # an evaluator that jumps to CPython's own, or another one
    page.write(b"\\x48\\xb8" + next.to_bytes(8, "little") + b"\\xff\\xe0")
    api._PyInterpreterState_SetEvalFrameFunc(main, address)
def chain():
    take_over(api._PyInterpreterState_GetEvalFrameFunc(main))
'''
PROGRAM = '''
def f(x):
    return x * 2 + 1
def g(x):
    return x * 3
def check():
    x = terra.ones(2)
    for _ in range(9):
        assert f(x).tolist() == [3.0, 3.0]
        assert g(x).tolist() == [3.0, 3.0]
'''


def run(code):
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                             env=os.environ | {"TERRA_LOG": "warn"})
    assert process.returncode == 0, process.stderr
    return process.stdout, process.stderr


out, log = run(FOREIGN + "take_over()\nimport terra\n" + PROGRAM +
               "check()\ncheck()\nprint(terra.capture.stats()['replays'])\n")
assert out == "0\n", out
assert log.count("\n") == 1 and "another frame evaluator" in log, log

out, log = run(FOREIGN + "import terra\n" + PROGRAM +
               "check()\nbefore = terra.capture.stats()['replays']\ntake_over()\ncheck()\ncheck()\n"
               "print(before > 0, terra.capture.stats()['replays'] == before)\n")
assert out == "True True\n", out
assert log.count("\n") == 1 and "another frame evaluator" in log, log

# Noticed at the first frame, before anything is served: f is a captured function whose call is the next thing to happen.
out, log = run(FOREIGN + "import terra\n" + PROGRAM +
               "check()\nx = terra.ones(2)\nbefore = terra.capture.stats()['replays']\nf(x)\n"
               "between = terra.capture.stats()['replays']\nchain()\nf(x)\ncheck()\n"
               "print(between - before, terra.capture.stats()['replays'] - between)\n"
               "with terra.capture.mode('auto'):\n    check()\n"
               "api._PyInterpreterState_SetEvalFrameFunc(main, default)\ncheck()\n"
               "print(terra.capture.stats()['replays'] - between)\n")
assert out == "1 0\n0\n", out
assert log.count("\n") == 1 and "another frame evaluator" in log, log

SUBINTERPRETER = '''
import os, _xxsubinterpreters, terra
folder = os.path.dirname(terra.__path__[0])
other = _xxsubinterpreters.create()
try:
    _xxsubinterpreters.run_string(other, f"import sys; sys.path.insert(0, {folder!r}); import terra")
except _xxsubinterpreters.RunFailedError as error:
    print(error)
_xxsubinterpreters.run_string(other, "def f(x): return x * 2\\nfor _ in range(9): f(3)\\n")
_xxsubinterpreters.destroy(other)
print(terra.ones(2).sum().item())
'''
out, log = run(SUBINTERPRETER)
assert "terra was imported in a subinterpreter" in out and out.endswith("2.0\n"), out
print("4 passed")
