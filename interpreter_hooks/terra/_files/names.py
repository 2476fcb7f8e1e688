"""What the names in a pickle mean. Files carry PyTorch's names, so that either side reads what the other wrote."""

import codecs
import pickle
from collections import Counter, OrderedDict, defaultdict

import _terra_C as C

STORAGES = {
    "DoubleStorage": C.float64,
    "FloatStorage": C.float32,
    "HalfStorage": C.float16,
    "BFloat16Storage": C.bfloat16,
    "LongStorage": C.int64,
    "IntStorage": C.int32,
    "ShortStorage": C.int16,
    "CharStorage": C.int8,
    "ByteStorage": C.uint8,
    "BoolStorage": C.bool,
    "ComplexFloatStorage": C.complex64,
    "ComplexDoubleStorage": C.complex128,
}
STORAGE_NAMES = {dtype: name for name, dtype in STORAGES.items()}
DTYPE_NAMES = {
    "float64": C.float64, "float32": C.float32, "float16": C.float16, "bfloat16": C.bfloat16, "int64": C.int64,
    "int32": C.int32, "int16": C.int16, "int8": C.int8, "uint8": C.uint8, "bool": C.bool,
    "uint16": C.uint16, "uint32": C.uint32, "uint64": C.uint64,
    "complex32": C.complex32, "bcomplex32": C.bcomplex32, "complex64": C.complex64, "complex128": C.complex128,
}  # fmt: skip
NAMES_OF_DTYPES = {dtype: name for name, dtype in DTYPE_NAMES.items()}


class StorageType:
    """A global such as torch.FloatStorage: the dtype of a storage's elements, None for untyped bytes."""

    def __init__(self, name):
        self.name = name
        self.dtype = STORAGES.get(name)
        self.itemsize = 1 if self.dtype is None else self.dtype.itemsize


STORAGE_TYPES = {name: StorageType(name) for name in (*STORAGES, "UntypedStorage")}


def storage_parts(identifier):
    """(type, key, location, number of elements) of what a pickle says about a storage."""
    if not isinstance(identifier, tuple) or len(identifier) < 5 or identifier[0] != "storage":
        raise pickle.UnpicklingError("the pickle of the file refers to something other than a storage")
    kind, key, location, count = identifier[1:5]
    if not isinstance(kind, StorageType) or not isinstance(key, str) or not isinstance(count, int) or count < 0:
        raise pickle.UnpicklingError("a storage of the file is described by the wrong types")
    return kind, key, location, count


class Storage:
    """The bytes of one entry of a file as a one-dimensional tensor; made once, shared by all tensors over it."""

    def __init__(self, data, dtype, size=0, mapped=False):
        """Without `data` they come later, by fill(). `mapped`: the data are memory that tensors may lie in."""
        self.data = data
        self.dtype = dtype
        self.itemsize = 1 if dtype is None else dtype.itemsize
        self.size = size if data is None else len(data)
        self._mapped = mapped
        self._typed = {}
        self.device = C.device("cpu")  # of the tensors: one that map_location says

    def typed(self, dtype):
        flat = self._typed.get(dtype)
        if flat is None:
            count = self.size // dtype.itemsize
            if self.data is None or not count or self.device.type == "meta":
                flat = C.empty(count, dtype=dtype, device=self.device)
            elif self._mapped:
                flat = C.frombuffer(self.data, dtype=dtype, count=count)
            else:
                flat = C.frombuffer(bytearray(self.data), dtype=dtype, count=count).clone()
            self._typed[dtype] = flat
        return flat

    def cpu(self):
        """For a map_location that asks for it."""
        return self

    def fill(self, data):
        self.data = data
        for dtype, flat in self._typed.items():
            if flat.numel():
                flat.copy_(C.frombuffer(bytearray(data), dtype=dtype, count=flat.numel()))


def rebuild_tensor(storage, offset, size, stride):
    return rebuild_tensor_v2(storage, offset, size, stride, False)


def rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks=None, metadata=None):
    return rebuild_tensor_v3(storage, offset, size, stride, requires_grad, hooks, storage.dtype, metadata)


def rebuild_tensor_v3(storage, offset, size, stride, requires_grad, hooks, dtype, metadata=None):
    """A view of the storage. The numbers come from a file: they are checked against it."""
    if not isinstance(storage, Storage) or dtype is None:
        raise ValueError("a tensor in the file has no storage of a known type")
    flat = storage.typed(dtype)
    size, stride = list(size), list(stride)
    last = offset + sum((n - 1) * s for n, s in zip(size, stride)) if all(n > 0 for n in size) else offset - 1
    if offset < 0 or len(size) != len(stride) or min([0, *size, *stride]) < 0 or last >= flat.numel():
        raise ValueError(
            f"a tensor of size {size}, stride {stride} and offset {offset} does not fit into its storage of "
            f"{flat.numel()} elements"
        )
    tensor = flat.as_strided(size, stride, offset)
    return tensor.requires_grad_() if requires_grad else tensor


def rebuild_meta_tensor(dtype, size, stride, requires_grad):
    """A tensor of the meta device, of which a file says everything without a storage."""
    from .. import empty_strided

    return empty_strided(size, stride, dtype=dtype, device="meta", requires_grad=requires_grad)


def rebuild_wrapper(kind, dtype, size, stride, storage_offset, layout, device, requires_grad):
    """A tensor whose elements are the affair of its class."""
    return C.Tensor._make_wrapper_subclass(
        kind, size, strides=stride, dtype=dtype, storage_offset=storage_offset, layout=layout, device=device, requires_grad=requires_grad
    )


def wrapper_parts(tensor):
    """How such a tensor is rebuilt, with its attributes."""
    if isinstance(tensor, C.Parameter):
        return rebuild_parameter, (tensor.detach(), tensor.requires_grad, OrderedDict())
    kind, state = type(tensor), tensor.__getstate__()
    parts = kind, tensor.dtype, tuple(tensor.size()), tuple(tensor.stride()), 0, C.strided, tensor.device, tensor.requires_grad
    return rebuild_from_type, (rebuild_wrapper, kind, parts, state)


def rebuild_parameter(data, requires_grad, hooks=None):
    return C.Parameter(data, requires_grad)


def rebuild_parameter_with_state(data, requires_grad, hooks, state):
    return _with_state(C.Parameter(data, requires_grad), state)


def rebuild_from_type(function, kind, parts, state):
    """A tensor of a subclass, or with attributes."""
    tensor = function(*parts)
    if type(tensor) is not kind:
        tensor = tensor.as_subclass(kind)
    if hasattr(kind, "__setstate__"):
        tensor.__setstate__(state)
        return tensor
    return _with_state(tensor, state)


def _with_state(thing, state):
    """`state`: attributes, or attributes and slots; None: neither."""
    if isinstance(state, tuple) and len(state) != 2:
        raise RuntimeError(f"Invalid serialized state: {state}")
    for attributes in state if isinstance(state, tuple) else (state,):
        for name, value in (attributes or {}).items():
            setattr(thing, name, value)
    return thing


def sparse_parts(tensor):
    """What a sparse tensor is written as: a function and its arguments."""
    if tensor.layout is C.sparse_coo:
        parts = tensor._indices(), tensor.detach()._values(), tensor.size(), tensor.is_coalesced()
    else:
        parts = *(part for _, part in tensor.detach()._named_parts()), tensor.size()
    return rebuild_sparse_tensor, (tensor.layout, parts)


def rebuild_sparse_tensor(layout, parts):
    """A sparse tensor of the parts in a file, which are checked."""
    from .. import sparse_coo_tensor, sparse_csc_tensor, sparse_csr_tensor

    if layout is C.sparse_coo:
        indices, values, size, *coalesced = parts
        coalesced = coalesced[0] if coalesced else None
        return sparse_coo_tensor(indices, values, size, check_invariants=True, is_coalesced=coalesced)
    if layout is C.sparse_csr or layout is C.sparse_csc:
        make = sparse_csr_tensor if layout is C.sparse_csr else sparse_csc_tensor
        return make(*parts, check_invariants=True)
    raise ValueError(f"a tensor in the file has the layout {layout}, which is not in Terra yet")


def layout_named(name):
    """torch.sparse_coo and the other layouts."""
    for layout in (C.strided, C.sparse_coo, C.sparse_csr, C.sparse_csc, C.sparse_bsr, C.sparse_bsc):
        if name == str(layout):
            return layout
    raise ValueError(f"a tensor in the file has the layout {name}, which is unknown")


REBUILD = {
    ("torch._utils", "_rebuild_tensor"): rebuild_tensor,
    ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor_v2,
    ("torch._utils", "_rebuild_tensor_v3"): rebuild_tensor_v3,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): rebuild_meta_tensor,
    ("torch._utils", "_rebuild_parameter"): rebuild_parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): rebuild_parameter_with_state,
    ("torch._utils", "_rebuild_wrapper_subclass"): rebuild_wrapper,
    ("torch._utils", "_rebuild_sparse_tensor"): rebuild_sparse_tensor,
    ("torch._tensor", "_rebuild_from_type_v2"): rebuild_from_type,
    ("torch.serialization", "_get_layout"): layout_named,
}

ALLOWED = {
    **REBUILD,
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "defaultdict"): defaultdict,
    ("collections", "Counter"): Counter,
    ("_codecs", "encode"): codecs.encode,
    **{
        (module, kind.__name__): kind
        for module in ("builtins", "__builtin__")  # as protocols from 3 on write it, and those before
        for kind in (set, dict, bytearray, complex)
    },
    ("torch", "Size"): C.Size,
    ("torch", "device"): C.device,
    ("torch", "Tensor"): C.Tensor,
    ("torch.nn.parameter", "Parameter"): C.Parameter,
    **{("torch", name): dtype for name, dtype in DTYPE_NAMES.items()},
    **{("torch", name): kind for name, kind in STORAGE_TYPES.items()},
    ("torch.storage", "UntypedStorage"): STORAGE_TYPES["UntypedStorage"],
}


def own_module(module):
    """The module of this package for a name in a file: torch.nn.modules.linear is terra.nn.modules.linear."""
    package = __name__.partition(".")[0]
    return package + module[len("torch") :] if module == "torch" or module.startswith("torch.") else module


def file_module(module):
    """The other way round, for names that are written."""
    package = __name__.partition(".")[0]
    return "torch" + module[len(package) :] if module == package or module.startswith(package + ".") else module
