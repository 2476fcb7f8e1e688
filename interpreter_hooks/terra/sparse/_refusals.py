"""What is said where a sparse tensor meets something that takes strided ones: PyTorch's exception types."""

_NO_STORAGE = NotImplementedError, "Cannot access storage of SparseTensorImpl"
_NO_POINTER = RuntimeError, "Cannot access data pointer of Tensor that doesn't have storage"
_NO_NUMPY = TypeError, "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first."
_NO_RESHAPE = RuntimeError, "reshape is not implemented for sparse tensors"
_NO_EXPAND = RuntimeError, "expand is unsupported for Sparse tensors"
_NO_FORMAT = RuntimeError, "unsupported memory format option Contiguous"
_NO_NUMBER = RuntimeError, "a sparse tensor cannot be converted to a Python number. Use Tensor.to_dense() first."
_NO_SCALAR = ValueError, "only one element tensors can be converted to Python scalars"

_SENTENCES = {
    "__array__": _NO_NUMPY, "numpy": _NO_NUMPY,
    "storage": _NO_STORAGE, "untyped_storage": _NO_STORAGE, "share_memory_": _NO_STORAGE, "is_shared": _NO_STORAGE,
    "apply_": _NO_POINTER, "const_data_ptr": _NO_POINTER, "data_ptr": _NO_POINTER, "map_": _NO_POINTER,
    "tolist": _NO_POINTER, "__dlpack__": _NO_POINTER,
    "reshape": _NO_RESHAPE, "reshape_as": _NO_RESHAPE, "inner": _NO_RESHAPE, "repeat_interleave": _NO_RESHAPE,
    "flatten": _NO_RESHAPE,
    "expand": _NO_EXPAND, "expand_as": _NO_EXPAND, "broadcast_to": _NO_EXPAND, "repeat": _NO_EXPAND, "tile": _NO_EXPAND,
    "contiguous": _NO_FORMAT, "ravel": _NO_FORMAT, "diagflat": _NO_FORMAT, "masked_fill": _NO_FORMAT,
    "item": _NO_NUMBER, "is_nonzero": _NO_NUMBER, "__bool__": _NO_NUMBER, "__int__": _NO_SCALAR,
    "__float__": _NO_SCALAR,
    "__complex__": _NO_SCALAR, "__index__": (TypeError, "only integer tensors of a single element can be converted "
    "to an index"),
    "__setitem__": (TypeError, "Cannot assign to a sparse tensor"),
    "nbytes": (
        RuntimeError,
        "nbytes is not defined for sparse tensors. Add up the nbytes of the indices and values, or multiply numel() "
        "by element_size() for the size of the dense tensor.",
    ),
    "ones": (RuntimeError, "full(...) is not implemented for sparse layout"),
    "full": (RuntimeError, "full(...) is not implemented for sparse layout"),
}  # fmt: skip


def refusal(name, backend="SparseCPU"):
    """The exception for the function or method of that name."""
    if name in _SENTENCES:
        kind, sentence = _SENTENCES[name]
        return kind(sentence)
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{backend}' backend: it takes strided tensors, and "
        "Tensor.to_dense() makes one of a sparse tensor."
    )


def refused(name):
    """A method that raises it."""

    def method(self, *arguments, **options):
        raise refusal(name)

    method.__name__ = method.__qualname__ = name
    return method
