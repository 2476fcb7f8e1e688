"""Tensors over the bytes of files; loaded when one is first made."""

import mmap
import os

import _terra_C as C


def _mapped(filename, shared, size):
    """`size` bytes of a file. Shared: it is made and grown as it takes, and holds what is written; else it is only read."""
    try:
        descriptor = os.open(filename, os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY, 0o600)
    except OSError as error:
        how = "read-write" if shared else "read-only"
        raise RuntimeError(f"unable to open file <{filename}> in {how} mode: {error.strerror} ({error.errno})") from None
    try:
        found = os.fstat(descriptor).st_size
        if found < size:
            if not shared:
                raise RuntimeError(f"file <{filename}> size <{found}> is smaller than the required mapping size <{size}>")
            os.ftruncate(descriptor, size)
        return mmap.mmap(descriptor, size, access=mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY)
    finally:
        os.close(descriptor)


def from_file(
    filename, shared=None, size=0, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    """A row of `size` elements whose memory is a file's."""
    dtype = dtype or C.get_default_dtype()
    if size == 0:
        return C.empty(0, dtype=dtype)
    memory = _mapped(filename, bool(shared), size * dtype.itemsize)
    return C.frombuffer(memory, dtype=dtype).requires_grad_(requires_grad)
