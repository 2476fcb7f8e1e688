"""PNG files of 8-bit images."""

import struct
import zlib

_COLORS = {1: 0, 2: 4, 3: 2, 4: 6}  # channels -> the format's color type


def png(rows, height, width, channels):
    """The file for the bytes of the image, row by row, channels last."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    stride = width * channels
    lines = b"".join(b"\0" + rows[i * stride : (i + 1) * stride] for i in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, _COLORS[channels], 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts
