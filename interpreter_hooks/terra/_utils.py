"""torch._utils: lists of tensors as one vector, errors of other threads, tensors over storages."""

import traceback

import _terra_C as C

from ._names import lazily


def _rebuild_tensor(storage, storage_offset, size, stride):
    """A tensor over a typed storage: what files of PyTorch name in the place of one."""
    return C.empty(0, dtype=storage.dtype).set_(storage._untyped_storage, storage_offset, size, stride)


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    """The hooks are those of a file, which keeps none."""
    return _rebuild_tensor(storage, storage_offset, size, stride).requires_grad_(requires_grad)


def _rebuild_parameter(data, requires_grad, backward_hooks):
    return C.Parameter(data, requires_grad)


def _element_size(dtype):
    """The bytes of an element."""
    return C.empty(0, dtype=dtype).element_size()


def _flatten_dense_tensors(tensors):
    """The elements of all tensors as one vector."""
    return C.cat([t.contiguous().view(-1) for t in tensors]) if len(tensors) else C.empty(0)


def _unflatten_dense_tensors(flat, tensors):
    """Views of a vector in the shapes of the tensors, one behind the other."""
    parts, start = [], 0
    for t in tensors:
        parts.append(flat.narrow(0, start, t.numel()).view_as(t))
        start += t.numel()
    return tuple(parts)


def _take_tensors(tensors, size_limit):
    """Lists of tensors of one dtype that take at most size_limit bytes together, or are one tensor."""
    chunks, sizes = {}, {}
    for t in tensors:
        chunk = chunks.setdefault(t.dtype, [])
        size = sizes.get(t.dtype, 0) + t.numel() * t.element_size()
        if chunk and size > size_limit:
            yield chunks.pop(t.dtype)
            chunk, size = chunks.setdefault(t.dtype, []), t.numel() * t.element_size()
        chunk.append(t)
        sizes[t.dtype] = size
    yield from chunks.values()


def _reorder_tensors_as(tensors, ordered_tensors):
    """Tensors that were sorted by dtype, in the order of others again."""
    by_type = {}
    for t in tensors:
        by_type.setdefault(t.type(), []).append(t)
    each = {name: iter(members) for name, members in by_type.items()}
    return tuple(next(each[t.type()]) for t in ordered_tensors)


class ExceptionWrapper:
    """An exception of a thread or process, with its traceback as text; reraise() raises it here."""

    def __init__(self, exc_info=None, where="in background"):
        if exc_info is None:
            import sys

            exc_info = sys.exc_info()
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def reraise(self):
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=message)
        try:
            error = self.exc_type(message)
        except Exception:
            raise RuntimeError(message) from None
        raise error


class KeyErrorMessage(str):
    """A text that a KeyError prints as it is."""

    def __repr__(self):
        return str(self)


def _get_available_device_type():
    """The kind of device besides the CPU: there is none."""
    return None


def _get_device_module(device_type):
    """The part of the package for a kind of device."""
    import terra

    module = getattr(terra, device_type, None)
    if module is None:
        raise RuntimeError(f"Device '{device_type}' does not have a corresponding module registered as 'torch.{device_type}'.")
    return module


def _get_all_device_indices():
    return []


def _get_device_index(device, optional=False, allow_cpu=False):
    """The number of a device; -1 for the CPU where that may be."""
    device = C.device(device) if isinstance(device, str) else device
    if isinstance(device, int):
        return device
    if device is None and optional:
        return -1
    if isinstance(device, C.device) and device.type == "cpu" and allow_cpu:
        return -1
    raise ValueError(f"Expected a torch.device with a specified index or an integer, but got: {device}")


__getattr__ = lazily(__name__)
