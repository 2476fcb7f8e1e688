"""The format from before PyTorch 1.6: pickles one after the other, then the bytes of each storage.

    magic number, protocol version, facts about the machine, the object, the keys of its storages: five pickles
    for each key: the number of elements as int64, then the elements"""

import pickle
import struct

from . import names
from .archive import LEGACY_MAGIC as MAGIC
from .writer import Writer, bytes_of

VERSION = 1001
MACHINE = {"protocol_version": VERSION, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}


def write(obj, file, protocol):
    """Writes the object and its tensors."""
    for value in (MAGIC, VERSION, MACHINE):
        pickle.dump(value, file, protocol=2)
    writer = Writer(file, legacy=True)
    writer.dump(obj)
    keys = sorted(writer.storages)
    pickle.dump(keys, file, protocol=2)
    for key in keys:
        data = bytes_of(writer.storages[key])
        file.write(struct.pack("<q", len(data) // writer.storages[key].dtype.itemsize))
        file.write(data)


class StorageLoader:
    """Storages by key. They are made while the object is read, and filled by what comes behind it."""

    def __init__(self, place, limit):
        self._place = place
        self._limit = limit  # bytes of the file: no storage has more
        self._storages = {}

    def __call__(self, identifier):
        if isinstance(identifier, tuple) and identifier[:1] == ("module",) and isinstance(identifier[1], type):
            return identifier[1]  # a class with its source beside it, for people to compare
        kind, key, location, count = names.storage_parts(identifier)
        if len(identifier) > 5 and identifier[5] is not None:
            raise pickle.UnpicklingError("a storage of the file is a view of another, as PyTorch before 0.4 wrote them")
        if count * kind.itemsize > self._limit:
            raise pickle.UnpicklingError(f"storage {key} is said to be longer than the file")
        if key not in self._storages:
            storage = names.Storage(None, kind.dtype, count * kind.itemsize)
            self._place(storage, location)
            self._storages[key] = storage
        return self._storages[key]

    def fill(self, keys, file, description):
        for key in keys:
            storage = self._storages.get(key)
            if storage is None:
                raise RuntimeError(f"{description} holds a storage {key} that none of its tensors has")
            head = file.read(8)
            size = struct.unpack("<q", head)[0] * storage.itemsize if len(head) == 8 else -1
            data = file.read(max(size, 0))
            if size != storage.size or len(data) != size:
                raise RuntimeError(f"{description} is damaged: storage {key} should have {storage.size} bytes")
            storage.fill(data)


def read(file, description, load_pickle, place):
    """What write() wrote. load_pickle(file, load_persistent) reads one pickle."""

    def plain(what):
        raise pickle.UnpicklingError(f"the head of the file refers to {what!r}")

    magic, version, machine = [load_pickle(file, plain) for _ in range(3)]
    if magic != MAGIC:
        raise RuntimeError("Invalid magic number; corrupt file?")
    if version != VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    if not isinstance(machine, dict) or machine.get("little_endian") is not True:
        raise RuntimeError(f"{description} was written on a big-endian machine")
    here = file.tell()
    storages = StorageLoader(place, file.seek(0, 2))
    file.seek(here)
    value = load_pickle(file, storages)
    keys = load_pickle(file, plain)
    if not isinstance(keys, list):
        raise RuntimeError(f"{description} is damaged: the keys of its storages are no list")
    storages.fill(keys, file, description)
    return value
