"""Objects into a pickle with PyTorch's names; tensors' bytes go beside it, once per storage."""

import ctypes
import operator
import pickle
import types
from collections import OrderedDict

import _terra_C as C

from ..storage import TypedStorage, UntypedStorage
from . import names


def _reduced_storage(storage):
    """That of a tensor which is written, as the tensor's method gives it."""
    if isinstance(storage, TypedStorage):
        return operator.methodcaller("storage"), (storage._elements,)
    return operator.methodcaller("untyped_storage"), (storage._bytes,)


class _StorageReference:
    """Stands for a storage while its tensor is pickled."""

    def __init__(self, key, tensor):
        self.key = key
        self.type = names.STORAGE_TYPES[names.STORAGE_NAMES.get(tensor.dtype, "UntypedStorage")]
        self.count = tensor._storage_bytes() // self.type.itemsize


# Functions and types that are written under names that are not their own.
_WRITTEN_NAMES = {function: path for path, function in names.REBUILD.items()}
_WRITTEN_NAMES[C.Size] = ("torch", "Size")
_WRITTEN_NAMES[C.device] = ("torch", "device")


class Writer(pickle._Pickler):
    """`storages` collects a tensor per storage, by key, for its bytes to be written afterwards."""

    def __init__(self, file, legacy=False):
        super().__init__(file, protocol=2)
        self.storages = {}
        self._tail = (None,) if legacy else ()  # of what is said about a storage: it is no view
        self._keys = {}

    def reducer_override(self, value):
        if isinstance(value, C.Tensor):
            return self._reduce_any_tensor(value)
        if isinstance(value, C.dtype):
            return names.NAMES_OF_DTYPES[value]
        if isinstance(value, C.device):
            return C.device, (str(value),)
        if isinstance(value, names.StorageType):
            return value.name
        if isinstance(value, C.layout):
            return names.layout_named, (str(value),)
        if isinstance(value, (TypedStorage, UntypedStorage)):
            return _reduced_storage(value)
        return NotImplemented

    def _reduce_any_tensor(self, tensor):
        """A tensor with its class and its attributes, where these are more than a tensor's."""
        if tensor.layout is not C.strided:
            return names.sparse_parts(tensor)
        kind = type(tensor)
        if kind.__reduce_ex__ is not C.Tensor.__reduce_ex__:
            return NotImplemented  # the class says how
        if C._is_wrapper(tensor):
            return names.wrapper_parts(tensor)
        state = tensor.__getstate__()
        if isinstance(tensor, C.Parameter):
            parts = tensor.detach(), tensor.requires_grad, OrderedDict()
            return (names.rebuild_parameter_with_state, (*parts, state)) if state else (names.rebuild_parameter, parts)
        function, parts = self._reduce_tensor(tensor)
        if kind is C.Tensor and not state:
            return function, parts
        return names.rebuild_from_type, (function, kind, parts, state)

    def _reduce_tensor(self, tensor):
        if not tensor.is_leaf and tensor.requires_grad:
            tensor = tensor.detach().requires_grad_()
        if tensor.is_meta:
            return names.rebuild_meta_tensor, (
                tensor.dtype, tuple(tensor.size()), tuple(tensor.stride()), tensor.requires_grad
            )  # fmt: skip
        reference = _StorageReference(self._key_of(tensor), tensor)
        arguments = (
            reference, tensor.storage_offset(), tuple(tensor.size()), tuple(tensor.stride()), tensor.requires_grad,
            OrderedDict(),
        )  # fmt: skip
        if reference.type.dtype is None:  # of a dtype newer than the names of storages
            return names.rebuild_tensor_v3, (*arguments, tensor.dtype)
        return names.rebuild_tensor_v2, arguments

    def _key_of(self, tensor):
        place = (tensor._storage_ptr(), tensor.dtype) if tensor._storage_bytes() else len(self._keys)
        if place not in self._keys:
            self._keys[place] = str(len(self._keys))
            self.storages[self._keys[place]] = tensor
        return self._keys[place]

    def persistent_id(self, value):
        if isinstance(value, _StorageReference):
            return ("storage", value.type, value.key, "cpu", value.count, *self._tail)
        return None

    def save_global(self, value, name=None):
        path = _WRITTEN_NAMES.get(value) if callable(value) else None
        if path is None and isinstance(value, (C.dtype, names.StorageType)):
            path = ("torch.storage" if name == "UntypedStorage" else "torch", name)
        if path is None and getattr(value, "__module__", None) not in (None, "__main__"):
            renamed = names.file_module(value.__module__)
            path = (renamed, name or value.__qualname__) if renamed != value.__module__ else None
        if path is None:
            return super().save_global(value, name)
        self.write(pickle.GLOBAL + f"{path[0]}\n{path[1]}\n".encode())
        self.memoize(value)

    dispatch = {**pickle._Pickler.dispatch, types.FunctionType: save_global}


def bytes_of(tensor):
    """The bytes of a tensor's whole storage, without a copy; the tensor must outlive them."""
    count = tensor._storage_bytes()
    return memoryview((ctypes.c_char * count).from_address(tensor._storage_ptr())).cast("B") if count else b""
