"""TFRecord: a file of byte strings, each with its length and checksums.

    length: 8 bytes, its masked CRC: 4 bytes, data, the masked CRC of the data: 4 bytes; all little-endian"""

import struct


def _table():
    rows = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        rows.append(byte)
    return rows


_CRC = _table()


def crc32c(data):
    """The CRC with the polynomial of Castagnoli."""
    crc = 0xFFFFFFFF
    table = _CRC
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def masked(crc):
    """As it stands in the file: turned by 15 bits and moved, for a CRC of data that holds CRCs says little."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked(crc32c(length))) + data + struct.pack("<I", masked(crc32c(data)))
