"""Memory that several processes see: an anonymous file, mapped by each of them, that a tensor is made over."""

import mmap
import os
from multiprocessing import context, reduction

import _terra_C as C

_maps = {}  # address of the memory -> (the descriptor's owner, its size in bytes), as long as a tensor is over it


class _Memory(mmap.mmap):
    """A mapping that keeps the descriptor of its file, so that it can be handed to another process."""

    def __new__(cls, descriptor, size):
        self = super().__new__(cls, descriptor, size)
        self.descriptor = descriptor
        self.size_in_bytes = size
        return self

    def __del__(self):
        _maps.pop(getattr(self, "address", None), None)
        os.close(self.descriptor)


def _over(memory, dtype):
    """All of the memory as one row of elements. The tensor keeps the mapping alive, the table does not."""
    import weakref

    flat = C.frombuffer(memory, dtype=dtype)
    memory.address = flat.data_ptr()
    _maps[memory.address] = weakref.ref(memory)
    return flat


def _base(tensor):
    """The shared memory that the tensor lies in, or None."""
    if tensor.numel() == 0:
        return None
    reference = _maps.get(tensor._storage_ptr())
    return reference() if reference else None


def is_shared(tensor):
    return _base(tensor) is not None


def share(tensor):
    """Moves the elements of the tensor into shared memory and gives the tensor. Views that were made of it before stay
    where they are."""
    if tensor.numel() == 0 or is_shared(tensor):
        return tensor
    size = tensor.numel() * tensor.element_size()
    memory = _Memory(_file(size), size)
    flat = _over(memory, tensor.dtype)
    with C.no_grad():
        moved = flat.view(tensor.shape)
        moved.copy_(tensor.detach())
        tensor.data = moved
    return tensor


def _file(size):
    descriptor = os.memfd_create("terra", os.MFD_CLOEXEC)
    os.ftruncate(descriptor, size)
    return descriptor


def _rebuild(handle, size, kind, dtype, shape, stride, offset, requires_grad):
    """The tensor of another process, over the same memory."""
    flat = _over(_Memory(handle.detach(), size), dtype)
    tensor = flat.as_strided(shape, stride, offset)
    if kind is C.Parameter:
        return C.Parameter(tensor, requires_grad)
    return tensor.requires_grad_() if requires_grad else tensor


def _reduce(tensor):
    """For pickles between processes. A tensor of a graph can't travel with its history."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support crossing "
            "process boundaries.  If you just want to transfer the data, call detach() on the tensor before serializing "
            "(e.g., putting it on the queue)."
        )
    if tensor.numel() == 0 or type(tensor) not in (C.Tensor, C.Parameter):
        return tensor.__reduce_ex__(2)
    kind, requires_grad, memory = type(tensor), tensor.requires_grad, _base(tensor)
    if memory is None:
        if context.get_spawning_popen() is not None:  # descriptors of a copy would be closed before the child inherits them
            return tensor.__reduce_ex__(2)
        tensor = share(tensor.detach().clone())
        memory = _base(tensor)
    place = (tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset())
    handle = reduction.DupFd(memory.descriptor)
    return _rebuild, (handle, memory.size_in_bytes, kind, tensor.dtype, *place, requires_grad)


def register():
    """Tells Python's multiprocessing how tensors are pickled."""
    for kind in (C.Tensor, C.Parameter):
        reduction.ForkingPickler.register(kind, _reduce)
