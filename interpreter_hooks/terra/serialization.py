"""save and load, in PyTorch's file format."""

import contextlib
import io
import os
import pickle
import typing

import _terra_C as C

from ._files import names
from ._files.archive import ArchiveReader, ArchiveWriter, is_legacy, opened
from .types import FileLike

__all__ = [
    "add_safe_globals", "clear_safe_globals", "get_default_mmap_options", "get_safe_globals",
    "get_unsafe_globals_in_checkpoint", "load", "safe_globals", "save", "set_default_mmap_options", "skip_data",
]  # fmt: skip

FILE_LIKE = FileLike
MAP_LOCATION = typing.Optional[typing.Union[typing.Callable, C.device, str, typing.Dict[str, str]]]  # what load() takes

DEFAULT_PROTOCOL = 2  # of pickle, in files that save() writes

_safe_globals = {}


def add_safe_globals(safe_globals):
    """Types and functions that load(weights_only=True) may use besides its own; each one, or (it, "module.name")."""
    for entry in safe_globals:
        value, path = entry if isinstance(entry, tuple) else (entry, f"{entry.__module__}.{entry.__qualname__}")
        _safe_globals[names.file_module(path)] = value


def get_safe_globals():
    return list(_safe_globals.values())


def get_unsafe_globals_in_checkpoint(f):
    """Names of functions and types in a saved file that load(weights_only=True) would refuse."""
    import pickletools

    file, description, ours = opened(f, "rb")
    try:
        data = ArchiveReader(file, description).read("data.pkl")
    finally:
        if ours:
            file.close()
    found = [argument.replace(" ", ".") for opcode, argument, _ in pickletools.genops(data) if opcode.name == "GLOBAL"]
    known = {f"{module}.{name}" for module, name in names.ALLOWED} | set(_safe_globals)
    return [name for name in dict.fromkeys(found) if name not in known]


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


def save(obj, f, pickle_module=pickle, pickle_protocol=DEFAULT_PROTOCOL, _use_new_zipfile_serialization=True):
    """Writes an object and its tensors. Tensors that share memory do so again when they are read."""
    if _skips_data and not _use_new_zipfile_serialization:
        raise RuntimeError("Cannot use skip_data=True with _use_new_zipfile_serialization=False")
    file, _, ours = opened(f, "wb")
    try:
        if _use_new_zipfile_serialization:
            _write_archive(obj, file, os.path.splitext(os.path.basename(os.fspath(f)))[0] if ours else "archive")
        else:
            from ._files import legacy

            legacy.write(obj, file, pickle_protocol)
    finally:
        if ours:
            file.close()


_skips_data = False


@contextlib.contextmanager
def skip_data(materialize_fake_tensors=False):
    """Inside, save() writes zeros in place of the elements of tensors: a file to be filled in later."""
    global _skips_data
    before, _skips_data = _skips_data, True
    try:
        yield
    finally:
        _skips_data = before


def _write_archive(obj, file, folder):
    from ._files.writer import Writer, bytes_of

    buffer = io.BytesIO()
    writer = Writer(buffer)
    writer.dump(obj)
    archive = ArchiveWriter(file, folder or "archive")
    archive.write("data.pkl", buffer.getvalue())
    archive.write("byteorder", b"little")
    for key, tensor in writer.storages.items():
        data = bytes_of(tensor)
        archive.write(f"data/{key}", bytes(len(data)) if _skips_data else data)
    archive.write("version", b"3\n")
    archive.close()


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Reads what save() wrote. weights_only=False runs the file's pickle, which can run any code: only for files from
    somebody you trust. mmap=True leaves the bytes of tensors in the file until they are used."""
    weights_only = pickle_module is None if weights_only is None else weights_only
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file name for it to be read with mmap=True, not an open file")
    file, description, ours = opened(f, "rb")

    def load_pickle(data, load_persistent):
        if weights_only:
            return _load_weights(data, load_persistent, description)
        return _Unpickler(data, load_persistent, **pickle_load_args).load()

    place = _Places(map_location)
    try:
        if is_legacy(_start_of(file)):
            if mmap:
                raise RuntimeError(
                    "mmap can only be used with files saved with `torch.save(_use_new_zipfile_serialization=True)`: save "
                    "this one again"
                )
            from ._files import legacy

            return legacy.read(file, description, load_pickle, place)
        archive = ArchiveReader(file, description)
        if archive.has("byteorder") and archive.read("byteorder") != b"little":
            raise RuntimeError(f"{description} was written on a big-endian machine")
        if mmap:
            archive.map()
        return load_pickle(io.BytesIO(archive.read("data.pkl")), _StorageLoader(archive, place))
    finally:
        if ours:
            file.close()


def set_default_mmap_options(flags):
    """mmap=True maps for this process alone (MAP_PRIVATE): nothing is ever written to the file."""
    import mmap

    if flags != mmap.MAP_PRIVATE:
        raise ValueError("Terra maps files with mmap.MAP_PRIVATE only: tensors never write to the file")


def get_default_mmap_options():
    import mmap

    return mmap.MAP_PRIVATE


class PyTorchFileReader:
    """The records of a file that save() wrote, by name."""

    def __init__(self, file):
        file, description, _ = opened(file, "rb")
        self._archive = ArchiveReader(file, description)

    def has_record(self, name):
        return self._archive.has(name)

    def get_record(self, name):
        return bytes(self._archive.read(name))


def _start_of(file):
    where = file.tell()
    start = file.read(14)
    file.seek(where)
    return start


class _Places:
    """What map_location makes of the place that a file names for a storage: the CPU's memory, or the meta device."""

    def __init__(self, map_location):
        self._to = map_location
        if isinstance(map_location, (str, C.device)):
            self._check(C.device(map_location).type)

    def __call__(self, storage, location):
        to = self._to
        if callable(to) and not isinstance(to, C.device):
            if to(storage, location) is not None:
                return
        elif isinstance(to, dict):
            location = to.get(location, location)
        elif to is not None:
            location = C.device(to).type
        self._check(str(location))
        storage.device = C.device(str(location))

    @staticmethod
    def _check(location):
        kind = location.partition(":")[0]
        if kind == "cuda":
            raise RuntimeError(
                "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are "
                "running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
                "storages to the CPU."
            )
        if kind not in ("cpu", "meta"):
            raise RuntimeError(
                f"don't know how to restore data location of torch.storage.UntypedStorage (tagged with {location})"
            )


class _StorageLoader:
    """Storages of an archive by key, each read once."""

    def __init__(self, archive, place):
        self._archive = archive
        self._place = place
        self._storages = {}

    def __call__(self, identifier):
        kind, key, location, count = names.storage_parts(identifier)
        if key not in self._storages:
            data, mapped = self._archive.payload(f"data/{key}")
            if len(data) < count * kind.itemsize:
                raise RuntimeError(
                    f"storage {key} of the file has {len(data)} bytes where {count * kind.itemsize} are needed"
                )
            storage = names.Storage(data, kind.dtype, mapped=mapped)
            self._place(storage, location)
            self._storages[key] = storage
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


def _load_weights(file, loader, description):
    from ._files.machine import Machine

    try:
        return Machine(file, _find_allowed, loader).run()
    except pickle.UnpicklingError:
        raise
    except (ValueError, TypeError, UnicodeDecodeError, OverflowError, AttributeError) as error:
        raise pickle.UnpicklingError(f"Weights only load failed: {description} is damaged: {error}") from None


class _Unpickler(pickle.Unpickler):
    """Python's own unpickler, with PyTorch's names turned into this package's."""

    def __init__(self, file, loader, **options):
        super().__init__(file, **options)
        self.persistent_load = loader

    def find_class(self, module, name):
        value = names.ALLOWED.get((module, name))
        return value if value is not None else super().find_class(names.own_module(module), name)


def default_restore_location(storage, location):
    """The storage itself: all memory is the CPU's. What map_location functions of programs end with."""
    if location != "cpu":
        raise RuntimeError(f"don't know how to restore data location of {type(storage).__name__} (tagged with {location})")
    return storage


def location_tag(storage):
    """Where a storage is."""
    return "cpu"
