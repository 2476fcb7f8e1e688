"""The class of sparse tensors, and the parts they are made of.

A sparse tensor is an object with the face of a tensor (sizes, dtype, a place in modules) whose elements are in ordinary
tensors. History is theirs: what requires grad is the values, so every function over sparse tensors is differentiated as
the ops over indices and values that it is written in."""

import _terra_C as C

from ._refusals import refused


class Sparse(C.Tensor):
    """What the layouts have in common. `_elements`: the values, one row for each place that is specified."""

    def _values(self):
        return self._elements.detach()

    def _nnz(self):
        return self._elements.shape[0]

    @property
    def requires_grad(self):
        return self._elements.requires_grad

    @requires_grad.setter
    def requires_grad(self, value):
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad=True):
        self._elements.requires_grad_(requires_grad)
        return self

    @property
    def is_leaf(self):
        return self._elements.is_leaf

    @property
    def grad_fn(self):
        return self._elements.grad_fn

    @property
    def grad(self):
        """Of a leaf: what its values have, at their places; once where a place has several values."""
        gradient = self._elements.grad
        return None if gradient is None else self._gradient(gradient)

    def _gradient(self, values):
        """The gradient of this tensor from that of its values: equal rows where a place has several."""
        return self._with(values)._averaged()

    @grad.setter
    def grad(self, value):
        if value is None:
            self._elements.grad = None
            return
        if not isinstance(value, C.Tensor):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
            )
        if value.shape != self.shape:
            raise RuntimeError(
                f"assigned grad has data of a different size: {list(value.shape)}, not {list(self.shape)}"
            )
        self._elements.grad = value.sparse_mask(self)._elements

    @property
    def data(self):
        return self.detach()

    @data.setter
    def data(self, value):
        if value.layout != self.layout:
            raise RuntimeError("Attempted to set the data of a sparse tensor to a tensor of an incompatible type.")
        if value.dtype != self.dtype:
            raise NotImplementedError(
                f"a sparse tensor of {self.dtype} can't become one of {value.dtype} in Terra: make a Parameter of "
                "the converted tensor"
            )
        with C.no_grad():
            self._elements = self._become(value)._elements.requires_grad_(self.requires_grad)

    def detach(self):
        return self._with(self._elements.detach())

    def detach_(self):
        self._elements = self._elements.detach()
        return self

    def clone(self, *, memory_format=None):
        return self._with(self._elements.clone())

    def retain_grad(self):
        self._elements.retain_grad()

    def register_hook(self, hook):
        """The hook gets the gradient as a sparse tensor."""

        def on_values(gradient):
            replaced = hook(self._with(gradient))
            return replaced if replaced is None else replaced._elements

        return self._elements.register_hook(on_values)

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        if gradient is None:
            if not self.requires_grad:
                raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        self._elements.backward(gradient.sparse_mask(self)._elements, retain_graph, create_graph, inputs)

    # ---- the same elements otherwise ----

    def to(self, *arguments, **options):
        elements = self._elements.to(*(a._elements if isinstance(a, Sparse) else a for a in arguments), **options)
        return self if elements is self._elements else self._with(elements)

    def type(self, dtype=None, non_blocking=False):
        if dtype is None:
            return self._elements.type().replace("torch.", "torch.sparse.")
        if isinstance(dtype, str):
            dtype = dtype.replace("torch.sparse.", "torch.")
        elements = self._elements.type(dtype)
        return self if elements is self._elements else self._with(elements)

    def type_as(self, other):
        return self.to(other.dtype)

    def cpu(self, memory_format=None):
        return self

    def cuda(self, device=None, non_blocking=False, memory_format=None):
        return self._with(self._elements.cuda(device))

    def is_contiguous(self, memory_format=None):
        return False

    def stride(self, dim=None):
        return (0,) * self.dim() if dim is None else 0

    def new_zeros(self, *size, dtype=None, device=None, requires_grad=False, **_):
        from ._creation import zeros

        return zeros(*size, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)

    new_empty = new_zeros

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self):
        return iter(self.unbind(0))

    def __hash__(self):
        return id(self)

    def __repr__(self, *, tensor_contents=None):
        from ._printing import text

        return text(self)

    __str__ = __repr__

    def __format__(self, spec):
        if spec:
            raise TypeError("unsupported format string passed to Tensor.__format__")
        return repr(self)

    def __deepcopy__(self, memo):
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                "moment."
            )
        if id(self) not in memo:
            memo[id(self)] = self._with(self._elements.detach().clone()).requires_grad_(self.requires_grad)
        return memo[id(self)]


class SparseTensor(Sparse):
    """COO: column i of `_places` [sparse_dim, nnz] is where row i of the values belongs. Rows of one place add up;
    `_coalesced`: there are no such rows, and the places are in order."""

    is_sparse = True
    is_sparse_csr = False
    layout = C.sparse_coo

    def _with(self, elements):
        """Other values in the same places."""
        return coo(self._places, elements, (*self.shape[: self.sparse_dim()], *elements.shape[1:]), self._coalesced)

    def _become(self, other):
        """The value of another tensor of this size takes the place of this one's."""
        if other.shape != self.shape:
            raise RuntimeError(f"output with shape {list(self.shape)} doesn't match the shape {list(other.shape)}")
        if self.requires_grad and self.is_leaf and C.is_grad_enabled():
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        elements = other._elements.to(self.dtype)
        if self.requires_grad and self.is_leaf:  # an update under no_grad: it stays the leaf that it is
            if other._places is self._places:
                self._elements.copy_(elements)
                return self
            elements = elements.detach().requires_grad_()
        self._places, self._elements, self._coalesced = other._places, elements, other._coalesced
        return self

    def _named_parts(self):
        return ("indices", self._places), ("values", self._elements)

    def _indices(self):
        return self._places

    def indices(self):
        if not self._coalesced:
            raise RuntimeError("Cannot get indices on an uncoalesced tensor, please call .coalesce() first")
        return self._places

    def values(self):
        if not self._coalesced:
            raise RuntimeError("Cannot get values on an uncoalesced tensor, please call .coalesce() first")
        return self._elements

    def is_coalesced(self):
        return self._coalesced

    def _coalesced_(self, coalesced):
        self._coalesced = bool(coalesced)
        return self

    def sparse_dim(self):
        return self._places.shape[0]

    def dense_dim(self):
        return self._elements.dim() - 1

    _dimI, _dimV = sparse_dim, dense_dim

    def coalesce(self):
        """The rows of each place added up, places in order."""
        if self._coalesced:
            return self
        sizes = self.shape[: self.sparse_dim()]
        if self._nnz() < 2:
            return coo(self._places, self._elements, self.shape, True)
        keys, row = C.unique(numbered(self._places, sizes), return_inverse=True)
        return coo(placed(keys, sizes), added(self._elements, row, keys.shape[0]), self.shape, True)

    def _averaged(self):
        """Each place once, with the mean of its rows."""
        if self._coalesced:
            return self
        times = self._with(C.ones_like(self._elements)).coalesce()
        return times._with(self.coalesce()._elements / times._elements)

    def to_dense(self, dtype=None, *, masked_grad=None):
        if dtype is not None:
            raise RuntimeError("dtype argument is not supported by sparse_to_dense")
        elements = self._elements
        if self.sparse_dim() == 0:
            return elements.sum(0).to(elements.dtype)
        return C._ops.index_put(C.zeros(self.shape, dtype=elements.dtype), self._places.unbind(0), elements, True)

    def to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
        from ._creation import to_layout

        if sparse_dim is not None and sparse_dim != self.sparse_dim():
            raise RuntimeError(
                f"sparse_coo_to_sparse: conversion from Sparse to Sparse with sparse_dim argument {sparse_dim} not "
                "equal to sparse_dim of the tensor is not supported"
            )
        return to_layout(self, layout)

    def to_sparse_coo(self):
        return self

    def to_sparse_csr(self, dense_dim=None):
        return self.to_sparse(layout=C.sparse_csr)

    def to_sparse_csc(self, dense_dim=None):
        return self.to_sparse(layout=C.sparse_csc)

    def zero_(self):
        return self._become(self._with_rows(C.zeros(0, dtype=C.int64)))

    def copy_(self, source, non_blocking=False):
        if not isinstance(source, SparseTensor):
            raise RuntimeError(
                f"copy_() between dense and sparse Tensors is not implemented! Found self type = {self.type()} and "
                f"src type = {source.type()}"
            )
        return self._become(source)

    def _with_rows(self, rows, coalesced=None):
        """Some of the places, by number."""
        coalesced = self._coalesced if coalesced is None else coalesced
        return coo(self._places.index_select(1, rows), self._elements.index_select(0, rows), self.shape, coalesced)

    def __reduce_ex__(self, protocol):
        return rebuild, (self._places, self._elements.detach(), tuple(self.shape), self._coalesced, self.requires_grad)


def coo(places, elements, size, coalesced=False):
    """A sparse tensor of parts that fit together."""
    made = C._sparse_tensor(SparseTensor, tuple(size), elements.dtype)
    made._places, made._elements, made._coalesced = places, elements, coalesced
    return made


def rebuild(places, elements, size, coalesced, requires_grad):
    """What a pickle calls. It may come from anywhere: the parts are checked."""
    from ._creation import sparse_coo_tensor

    return sparse_coo_tensor(
        places, elements, size, requires_grad=requires_grad, check_invariants=True, is_coalesced=coalesced
    )


def numbered(places, sizes):
    """Places as numbers in row-major order."""
    if places.shape[0] == 0:
        return C.zeros(places.shape[1], dtype=C.int64)
    keys = places[0]
    for d in range(1, len(sizes)):
        keys = keys * sizes[d] + places[d]
    return keys


def placed(keys, sizes):
    """The other way round."""
    rows = []
    for size in reversed(sizes):
        rows.append(keys % max(size, 1))
        keys = keys // max(size, 1)
    return C.stack(rows[::-1]) if rows else C.zeros((0, keys.shape[0]), dtype=C.int64)


def added(elements, row, count):
    """`count` rows: each the sum of the elements that `row` numbers so."""
    return C._ops.index_put(C.zeros((count, *elements.shape[1:]), dtype=elements.dtype), [row], elements, True)


# What the engine's Tensor has and these functions don't override would look at memory that isn't there.
_KEPT = frozenset((
    "__class__", "__del__", "__doc__", "__new__", "__init__", "__getattribute__", "__setattr__", "__delattr__",
    "__dict__", "__weakref__", "__torch_dispatch__", "__torch_function__", "_make_subclass", "_make_wrapper_subclass", "__array_priority__", "__dlpack_device__", "__module__",
    "_backward_hooks", "_base", "_is_view", "_type_name", "device", "dim", "dtype", "element_size", "get_device",
    "is_complex", "is_conj", "is_cpu", "is_cuda", "is_distributed", "is_floating_point", "is_inference", "is_meta",
    "is_mkldnn", "is_mps", "is_neg", "is_nested", "is_pinned", "is_quantized", "is_same_size", "is_signed", "is_xpu",
    "itemsize", "name", "ndim", "ndimension", "nelement", "new_tensor", "numel", "output_nr", "pin_memory",
    "retains_grad", "shape", "size", "storage_offset", "_version", "__eq__", "__ne__", "__lt__", "__le__", "__gt__",
    "__ge__",
))  # fmt: skip
_CONVERSIONS = {
    name: dtype for name, dtype in (
        ("float", C.float32), ("double", C.float64), ("half", C.float16), ("bfloat16", C.bfloat16), ("long", C.int64),
        ("int", C.int32), ("short", C.int16), ("char", C.int8), ("byte", C.uint8), ("bool", C.bool),
        ("cfloat", C.complex64), ("cdouble", C.complex128),
    )
}  # fmt: skip


def _conversion(dtype):
    return lambda self, memory_format=None: self.to(dtype)


def _complete():
    for name, dtype in _CONVERSIONS.items():
        setattr(Sparse, name, _conversion(dtype))
    for name, member in vars(C.Tensor).items():
        if name in _KEPT or name in vars(Sparse) or isinstance(member, C.OpMethod):
            continue
        if callable(getattr(C.Tensor, name, None)):
            setattr(Sparse, name, refused(name))
        else:
            setattr(Sparse, name, property(refused(name)))


_complete()
