"""The zip archive: entries are stored uncompressed, each payload at a multiple of 64 bytes."""

import io
import os
import zipfile
import zlib

ALIGNMENT = 64
LEGACY_MAGIC = 0x1950A86A20F9469CFC6C  # what a file of the format before archives starts with, pickled
FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # equal contents give equal files


class ArchiveWriter:
    def __init__(self, file, folder):
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, allowZip64=True)
        self._folder = folder

    def write(self, name, data):
        info = zipfile.ZipInfo(f"{self._folder}/{name}", FIXED_TIME)
        header = 30 + len(info.filename.encode("utf-8"))
        if len(data) >= zipfile.ZIP64_LIMIT:
            header += 20
        start = self._zip.start_dir + header + 4
        padding = -start % ALIGNMENT
        info.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
        self._zip.writestr(info, data)

    def close(self):
        self._zip.close()


class ArchiveReader:
    """Entries by name below the one top folder. Raises RuntimeError where the file is no such archive."""

    def __init__(self, file, description):
        self._description = description
        self._map = None
        try:
            self._zip = zipfile.ZipFile(file)
            self._folder = self._zip.namelist()[0].partition("/")[0]
        except (zipfile.BadZipFile, IndexError, ValueError, NotImplementedError, OSError) as error:
            raise RuntimeError(
                f"{description} is not a file written by save(): failed reading zip archive ({error}). "
                "It may be damaged or of another format."
            ) from None

    def read(self, name):
        full = f"{self._folder}/{name}"
        try:
            info = self._zip.getinfo(full)
            if info.file_size > info.compress_size and info.compress_type == zipfile.ZIP_STORED:
                raise zipfile.BadZipFile("sizes disagree")
            return self._zip.read(info)
        except KeyError:
            raise RuntimeError(f"{self._description} has no record {name}: it is damaged or not a saved object") from None
        except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError, RuntimeError, zlib.error) as error:
            raise RuntimeError(f"{self._description}: record {name} cannot be read ({error})") from None

    def map(self):
        """From now on payload() gives memory that the file is mapped to: read when it is used, written to nowhere."""
        import mmap

        self._map = mmap.mmap(self._zip.fp.fileno(), 0, access=mmap.ACCESS_COPY)

    def payload(self, name):
        """(bytes of the entry, whether they are memory to keep)"""
        if self._map is None:
            return self.read(name), False
        try:
            info = self._zip.getinfo(f"{self._folder}/{name}")
        except KeyError:
            return self.read(name), False  # raises
        if info.compress_type != zipfile.ZIP_STORED:
            raise RuntimeError(f"{self._description}: record {name} is compressed, which mmap=True can't read")
        lengths = self._map[info.header_offset + 26 : info.header_offset + 30]
        start = info.header_offset + 30 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
        if start + info.file_size > len(self._map):
            raise RuntimeError(f"{self._description}: record {name} ends behind the end of the file")
        return memoryview(self._map)[start : start + info.file_size], True

    def has(self, name):
        return f"{self._folder}/{name}" in self._zip.NameToInfo

    def close(self):
        self._zip.close()


def opened(file, mode):
    """(file object, what to call it in messages, whether it is ours to close)"""
    if isinstance(file, (str, os.PathLike)):
        return open(file, mode), f"'{os.fspath(file)}'", True
    needed = "write" if "w" in mode else "read"
    if not hasattr(file, needed):
        raise AttributeError(
            f"expected 'f' to be string, path, or a file-like object with a '{needed}' attribute, got {type(file).__name__}"
        )
    if needed == "read" and not (hasattr(file, "seek") and hasattr(file, "tell")):
        return io.BytesIO(file.read()), "the file object", False
    return file, "the file object", False


def is_legacy(start):
    """Whether a file with these first bytes is of the format before archives."""
    return start[:1] == b"\x80" and start[2:14] == b"\x8a\n" + LEGACY_MAGIC.to_bytes(10, "little")
