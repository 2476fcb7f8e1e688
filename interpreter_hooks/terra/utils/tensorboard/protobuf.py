"""Protocol buffers, as much as events need: a message is a string of (field number, kind, value)."""

import struct


def varint(value):
    value &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _key(field, kind):
    return varint(field << 3 | kind)


def integer(field, value):
    """int32, int64, bool, enum."""
    return _key(field, 0) + varint(int(value))


def double(field, value):
    return _key(field, 1) + struct.pack("<d", value)


def single(field, value):
    return _key(field, 5) + struct.pack("<f", value)


def text(field, value):
    """string, bytes, or a message within."""
    data = value.encode() if isinstance(value, str) else value
    return _key(field, 2) + varint(len(data)) + data


def doubles(field, values):
    """repeated double, packed."""
    return text(field, struct.pack(f"<{len(values)}d", *values))
