"""save and load, in PyTorch's file format."""

import contextlib
import io
import os
import pickle

from ._files import names
from ._files.archive import ArchiveReader, ArchiveWriter, opened

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]

_safe_globals = {}


def add_safe_globals(safe_globals):
    """Types and functions that load(weights_only=True) may use besides its own; each one, or (it, "module.name")."""
    for entry in safe_globals:
        value, path = entry if isinstance(entry, tuple) else (entry, f"{entry.__module__}.{entry.__qualname__}")
        _safe_globals[names.file_module(path)] = value


def get_safe_globals():
    return list(_safe_globals.values())


def clear_safe_globals():
    _safe_globals.clear()


@contextlib.contextmanager
def _safe_globals_for(values):
    before = dict(_safe_globals)
    add_safe_globals(values)
    try:
        yield
    finally:
        _safe_globals.clear()
        _safe_globals.update(before)


safe_globals = _safe_globals_for


def save(obj, f, pickle_module=pickle, pickle_protocol=2, _use_new_zipfile_serialization=True):
    """Writes an object and its tensors. Tensors that share memory do so again when they are read."""
    from ._files.writer import Writer, bytes_of

    buffer = io.BytesIO()
    writer = Writer(buffer)
    writer.dump(obj)
    file, _, ours = opened(f, "wb")
    try:
        folder = os.path.splitext(os.path.basename(os.fspath(f)))[0] if ours else "archive"
        archive = ArchiveWriter(file, folder or "archive")
        archive.write("data.pkl", buffer.getvalue())
        archive.write("byteorder", b"little")
        for key, tensor in writer.storages.items():
            archive.write(f"data/{key}", bytes_of(tensor))
        archive.write("version", b"3\n")
        archive.close()
    finally:
        if ours:
            file.close()


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Reads what save() wrote. weights_only=False runs the file's pickle, which can run any code: only for files from
    somebody you trust."""
    weights_only = pickle_module is None if weights_only is None else weights_only
    file, description, ours = opened(f, "rb")
    try:
        archive = ArchiveReader(file, description)
        if archive.has("byteorder") and archive.read("byteorder") != b"little":
            raise RuntimeError(f"{description} was written on a big-endian machine")
        loader = _StorageLoader(archive)
        data = archive.read("data.pkl")
        if weights_only:
            return _load_weights(data, loader, description)
        return _Unpickler(io.BytesIO(data), loader).load()
    finally:
        if ours:
            file.close()


class _StorageLoader:
    """Storages of an archive by key, each read once."""

    def __init__(self, archive):
        self._archive = archive
        self._storages = {}

    def __call__(self, identifier):
        if not isinstance(identifier, tuple) or len(identifier) < 5 or identifier[0] != "storage":
            raise pickle.UnpicklingError("the pickle of the file refers to something other than a storage")
        _, kind, key, _, count = identifier[:5]
        if not isinstance(kind, names.StorageType) or not isinstance(key, str) or not isinstance(count, int):
            raise pickle.UnpicklingError("a storage of the file is described by the wrong types")
        if key not in self._storages:
            data = self._archive.read(f"data/{key}")
            size = 1 if kind.dtype is None else kind.dtype.itemsize
            if len(data) < count * size:
                raise RuntimeError(f"storage {key} of the file has {len(data)} bytes where {count * size} are needed")
            self._storages[key] = names.Storage(data, kind.dtype)
        return self._storages[key]


def _find_allowed(module, name):
    value = names.ALLOWED.get((module, name))
    if value is None:
        value = _safe_globals.get(f"{module}.{name}")
    if value is None:
        raise pickle.UnpicklingError(
            f"Weights only load failed. Unsupported global: GLOBAL {module}.{name} was not an allowed global by default. "
            f"Allow it with `torch.serialization.add_safe_globals([{name}])` if you trust it, or read the file with "
            "weights_only=False if you trust its source: that can run any code."
        )
    return value


def _load_weights(data, loader, description):
    from ._files.machine import Machine

    try:
        return Machine(data, _find_allowed, loader).run()
    except pickle.UnpicklingError:
        raise
    except (ValueError, TypeError, UnicodeDecodeError, OverflowError, AttributeError) as error:
        raise pickle.UnpicklingError(f"Weights only load failed: {description} is damaged: {error}") from None


class _Unpickler(pickle.Unpickler):
    """Python's own unpickler, with PyTorch's names turned into this package's."""

    def __init__(self, file, loader):
        super().__init__(file)
        self.persistent_load = loader

    def find_class(self, module, name):
        value = names.ALLOWED.get((module, name))
        return value if value is not None else super().find_class(names.own_module(module), name)
