"""C extension modules find Python's symbols in terra-run; numpy brings its own BLAS and computes with that."""

import _ctypes  # an extension module in lib-dynload
import ctypes
import subprocess
import sys

import numpy

a = numpy.arange(60_000, dtype="f8").reshape(200, 300) / 1e4
assert numpy.allclose(a @ a.T, numpy.einsum("ij,kj->ik", a, a))
assert ctypes.pythonapi.PyLong_AsLong(ctypes.py_object(5)) == 5

exported = subprocess.run(["nm", "-D", "--defined-only", sys.executable], capture_output=True, text=True).stdout
names = {line.split()[-1] for line in exported.splitlines()}
assert "PyObject_Call" in names and "PyUnicode_AsUTF8" in names
assert not {"cblas_sgemm", "sgemm_", "openblas_set_num_threads"} & names
print("4 passed")
