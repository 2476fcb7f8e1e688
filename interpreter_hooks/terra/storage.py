"""torch.storage: the memory below tensors, as bytes and as elements of one dtype. Both are views that keep it alive."""

import io
import os

import _terra_C as C

from ._names import lazily
from ._warnings import warn_once


def _bytes_of(tensor):
    """All bytes of the memory that a tensor views."""
    size = tensor._storage_bytes()
    if size < tensor.element_size():
        return C.empty(0, dtype=C.uint8, device=tensor.device)
    whole = tensor.detach().as_strided((size // tensor.element_size(),), (1,), 0).view(C.uint8)
    return whole.as_strided((size,), (1,), 0)


class UntypedStorage:
    """Bytes. Made of a size, of numbers, or by Tensor.untyped_storage() of the memory of a tensor."""

    def __init__(self, content=0, *, device=None):
        if isinstance(content, C.Tensor):
            self._bytes = content
        elif isinstance(content, int):
            self._bytes = C.empty(content, dtype=C.uint8, device=device)
        else:
            self._bytes = C.tensor(list(content), dtype=C.uint8)

    @classmethod
    def from_file(cls, filename, shared=False, nbytes=0):
        """The bytes of a file; changes reach the file if they are `shared`."""
        from ._mapped_files import from_file

        return cls(from_file(os.fspath(filename), shared, nbytes, dtype=C.uint8))

    @property
    def device(self):
        return self._bytes.device

    is_cuda = is_hpu = is_sparse = is_sparse_csr = False

    def nbytes(self):
        return self._bytes.numel()

    size = __len__ = nbytes

    def element_size(self):
        return 1

    def data_ptr(self):
        return self._bytes.data_ptr()

    def __getitem__(self, index):
        part = self._bytes[index]
        return UntypedStorage(part) if isinstance(index, slice) else part.item()

    def __setitem__(self, index, value):
        self._bytes[index] = value._bytes if isinstance(value, UntypedStorage) else value

    def __iter__(self):
        return iter(self.tolist())

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and self.data_ptr() == other.data_ptr() and len(self) == len(other)

    def __hash__(self):
        return hash((self.data_ptr(), len(self)))

    def __repr__(self):
        lines = "".join(f" {byte}\n" for byte in self)
        return f"{lines}[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"

    def tolist(self):
        return self._bytes.tolist()

    def fill_(self, value):
        self._bytes.fill_(value)
        return self

    def copy_(self, source, non_blocking=None):
        self._bytes.copy_(source._bytes)
        return self

    def clone(self):
        return UntypedStorage(self._bytes.clone())

    def cpu(self):
        return self

    def untyped(self):
        return self

    def is_pinned(self, device="cuda"):
        return False

    def is_shared(self):
        return self._bytes.is_shared()

    def get_device(self):
        return -1


class TypedStorage:
    """Bytes as elements of one dtype: what Tensor.storage() gives."""

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None, _internal=True):
        """(a number of elements) or (their values), or over bytes that are there."""
        if len(args) > 1:
            raise RuntimeError(f"Too many positional arguments: got {len(args)}, expected one or none")
        self.dtype = C.get_default_dtype() if dtype is None else dtype
        if wrap_storage is None:
            given = args[0] if args else 0
            elements = C.empty(given, dtype=self.dtype) if isinstance(given, int) else C.tensor(list(given), dtype=self.dtype)
            wrap_storage = elements.untyped_storage()
        self._untyped_storage = wrap_storage

    @property
    def _elements(self):
        return self._untyped_storage._bytes.view(self.dtype)

    @property
    def device(self):
        return self._untyped_storage.device

    is_cuda = is_sparse = False

    def untyped(self):
        return self._untyped_storage

    def element_size(self):
        return self.dtype.itemsize

    def nbytes(self):
        return self._untyped_storage.nbytes()

    def size(self):
        return self.nbytes() // self.element_size()

    __len__ = size

    def data_ptr(self):
        return self._untyped_storage.data_ptr()

    def is_shared(self):
        return self._untyped_storage.is_shared()

    def __getitem__(self, index):
        return self._elements[index].item()

    def __setitem__(self, index, value):
        self._elements[index] = value

    def __iter__(self):
        return iter(self.tolist())

    def tolist(self):
        return self._elements.tolist()

    def fill_(self, value):
        self._elements.fill_(value)
        return self

    def clone(self):
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    def __repr__(self):
        lines = "".join(f" {value}\n" for value in self)
        dtype = str(self.dtype).split(".")[-1]
        return f"{lines}[torch.storage.TypedStorage(dtype=torch.{dtype}, device={self.device}) of size {len(self)}]"


class _StorageOf(type):
    """FloatStorage and its kin: what is one is a TypedStorage of that dtype."""

    def __call__(cls, content=0, **options):
        if isinstance(content, int):
            values = C.empty(content, dtype=cls.dtype)
        else:
            values = C.tensor(list(content), dtype=cls.dtype)
        return TypedStorage(wrap_storage=of(values), dtype=cls.dtype)

    def __instancecheck__(cls, instance):
        return isinstance(instance, TypedStorage) and instance.dtype == cls.dtype


for _name, _dtype in (
    ("BFloat16", C.bfloat16), ("Bool", C.bool), ("Byte", C.uint8), ("Char", C.int8), ("ComplexDouble", C.complex128),
    ("ComplexFloat", C.complex64), ("Double", C.float64), ("Float", C.float32), ("Half", C.float16), ("Int", C.int32),
    ("Long", C.int64), ("Short", C.int16),
):  # fmt: skip
    globals()[_name + "Storage"] = _StorageOf(_name + "Storage", (), {"__module__": "torch", "dtype": _dtype})
Storage = globals()["FloatStorage"]


def of(tensor):
    """What Tensor.untyped_storage() gives."""
    return UntypedStorage(_bytes_of(tensor))


def typed(tensor):
    """What Tensor.storage() gives."""
    warn_once(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
        "class. This should only matter to you if you are using storages directly.  To access UntypedStorage directly, "
        "use tensor.untyped_storage() instead of tensor.storage()",
        stacklevel=3,
    )
    return TypedStorage(wrap_storage=of(tensor), dtype=tensor.dtype)


def _load_from_bytes(b):
    """The storage of a tensor that PyTorch has pickled without torch.save()."""
    from .serialization import load

    stored = load(io.BytesIO(b), weights_only=False)
    flat = of(stored.typed(stored.dtype or C.uint8))
    return flat if stored.dtype is None else TypedStorage(wrap_storage=flat, dtype=stored.dtype)


__getattr__ = lazily(__name__)
