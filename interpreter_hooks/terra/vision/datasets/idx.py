"""The idx format of MNIST: a big-endian header (two zero bytes, type code, dimensions, sizes), then the values."""

import gzip
import os
import struct
import zlib

import _terra_C as C

TYPES = {0x08: C.uint8, 0x09: C.int8, 0x0B: C.int16, 0x0C: C.int32, 0x0D: C.float32, 0x0E: C.float64}


def read_idx(path):
    """The tensor in an idx file, or in the same under gzip."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise RuntimeError(f"{path} is damaged: {error}") from None
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in TYPES:
        raise RuntimeError(
            f"{path} is not an idx file: it starts with {data[:4].hex(' ') or 'nothing'}, expected 00 00, a type "
            f"code and the number of dimensions"
        )
    dtype, dimensions = TYPES[data[2]], data[3]
    start = 4 + 4 * dimensions
    if len(data) < start:
        raise RuntimeError(f"{path} ends inside its header of {start} bytes")
    shape = struct.unpack(f">{dimensions}I", data[4:start])
    count = 1
    for size in shape:
        count *= size
    if len(data) - start != count * dtype.itemsize:
        raise RuntimeError(
            f"{path} should hold {count} values for its shape {list(shape)}, {count * dtype.itemsize} bytes, "
            f"but has {len(data) - start} bytes after its header"
        )
    if count == 0:
        return C.empty(shape, dtype=dtype)
    values = bytearray(data[start:])
    if dtype.itemsize > 1:
        values = _swapped(values, dtype.itemsize)
    return C.frombuffer(values, dtype=dtype).clone().view(shape)


def _swapped(values, width):
    """Big-endian values as little-endian ones."""
    out = bytearray(len(values))
    for i in range(width):
        out[i::width] = values[width - 1 - i :: width]
    return out


def find_idx(folder, name):
    """The path of an idx file, plain or under gzip; FileNotFoundError names both."""
    for candidate in (os.path.join(folder, name), os.path.join(folder, name + ".gz")):
        if os.path.exists(candidate):
            return candidate
    raise FileNotFoundError(f"neither {name} nor {name}.gz is in {folder}")
