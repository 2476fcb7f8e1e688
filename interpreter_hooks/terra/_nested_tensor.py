"""Nested tensors: batches of tensors whose sizes differ. Strided ones hold the tensors, jagged ones all of them behind one another,
with the places where each begins; ops that leave the differing dimension alone are those of what is held."""

import _terra_C as C

from ._C import DisableTorchFunctionSubclass
from .nn import functional as F


class NestedInt:
    """The size of the dimension in which the tensors of a jagged batch differ."""

    _made = 0

    def __init__(self):
        NestedInt._made += 1
        self._number = NestedInt._made

    def __repr__(self):
        return f"j{self._number}"


class NestedSize(tuple):
    """The sizes of a jagged batch."""

    def __repr__(self):
        return f"torch.Size([{', '.join(map(str, self))}])"

    def numel(self):
        raise NotImplementedError("the number of elements of a jagged batch is that of its values")


class NestedTensor(C.Tensor):
    """`_held`: the tensors, or in a list of one all their rows. `_offsets`: None, or where each begins, and the end. `_ragged`: the
    dimension in which they differ; the rows lie as if it were the first after the batch."""

    requires_grad = property(lambda self: any(held.requires_grad for held in self._held))
    grad_fn = property(lambda self: self._held[0].grad_fn if self._held else None)
    is_leaf = property(lambda self: all(held.is_leaf for held in self._held))
    dtype = property(lambda self: self._held[0].dtype if self._held else C.get_default_dtype())
    layout = property(lambda self: C.strided if self._offsets is None else C.jagged)
    is_nested = property(lambda self: True)
    ndim = property(lambda self: self.dim())

    @property
    def shape(self):
        if self._offsets is None:
            raise RuntimeError("Internal error: NestedTensorImpl doesn't support sizes. Please file an issue.")
        rest = list(self._held[0].shape[1:])
        rest.insert(self._ragged - 1, self._size)
        return NestedSize((len(self._offsets) - 1, *rest))

    def size(self, dim=None):
        if dim is None:
            return self.shape
        dim %= self.dim()
        if dim == 0:
            return len(parts(self))
        if self._offsets is not None:
            return self.shape[dim]
        sizes = {part.shape[dim - 1] for part in self._held}
        if len(sizes) != 1:
            raise RuntimeError(f"Given dimension {dim} is irregular and does not have a size.")
        return sizes.pop()

    def dim(self):
        return 1 + (self._held[0].dim() if self._held else 0)

    def numel(self):
        return sum(held.numel() for held in self._held)

    def values(self):
        return self._held[0] if self._offsets is not None else C.cat([part.reshape(-1) for part in self._held])

    def offsets(self):
        return self._offsets

    def lengths(self):
        return self._lengths

    @property
    def _max_seqlen(self):
        return max(part.shape[0] for part in _rows(self))

    @property
    def _min_seqlen(self):
        return min(part.shape[0] for part in _rows(self))

    def _nested_tensor_size(self):
        return C.tensor([list(part.shape) for part in parts(self)])

    def unbind(self, dim=0):
        return tuple(parts(self))

    def to_padded_tensor(self, padding, output_size=None):
        return to_padded_tensor(self, padding, output_size)

    def backward(self, *args, **kwargs):
        raise RuntimeError("grad can be implicitly created only for scalar outputs")

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return iter(parts(self))

    def __repr__(self, *, tensor_contents=None):
        grad = (
            f", grad_fn=<{self.grad_fn.name()}>"
            if self.grad_fn is not None
            else ", requires_grad=True"
            if self.requires_grad
            else ""
        )
        if self._offsets is not None:
            whole = self._lengths is None and self._ragged == 1
            return f"NestedTensor(size={tuple(self.shape)}, offsets={self._offsets}{grad}, contiguous={whole})"
        texts = [repr(part.detach().requires_grad_(part.requires_grad)).replace("\n", "\n  ") for part in self._held]
        return "nested_tensor([\n" + ",\n".join("  " + text for text in texts) + f"\n]{grad})"

    __str__ = __repr__

    def __hash__(self):
        return id(self)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in FUNCTIONS:
            return FUNCTIONS[name](*args, **kwargs)
        if name in ("__get__", "__set__", "is_floating_point", "is_complex", "element_size"):
            with DisableTorchFunctionSubclass():
                return func(*args, **kwargs)
        if isinstance(func, C.Overridable):
            return func.__wrapped__(*args, **kwargs)
        raise NotImplementedError(
            f"{name}() of nested tensors is not in Terra yet; unbind() gives the tensors, to_padded_tensor() one of all"
        )


def _made(held, offsets=None, size=None, ragged=1, lengths=None):
    with DisableTorchFunctionSubclass():
        made = C._wrapper_tensor(NestedTensor, C.empty(0))
    made._held, made._offsets, made._size, made._ragged, made._lengths = list(held), offsets, size, ragged, lengths
    return made


def _like(nested, held):
    return _made(held, nested._offsets, nested._size, nested._ragged, nested._lengths)


def _rows(nested):
    """The tensors as they lie."""
    if nested._offsets is None:
        return nested._held
    starts = nested._offsets.tolist()
    counts = [b - a for a, b in zip(starts, starts[1:])] if nested._lengths is None else nested._lengths.tolist()
    return [nested._held[0].narrow(0, start, count) for start, count in zip(starts, counts)]


def parts(nested):
    """The tensors of the batch."""
    rows = _rows(nested)
    return rows if nested._ragged == 1 else [part.movedim(0, nested._ragged - 1) for part in rows]


def _of_parts(tensors, like):
    """A batch of these in the layout of another."""
    if like._offsets is None:
        return _made(tensors)
    counts = [t.shape[0] for t in tensors]
    same = counts == [part.shape[0] for part in _rows(like)] and like._lengths is None
    return _made([C.cat(tensors)], like._offsets if same else _offsets_of(counts), like._size if same else NestedInt())


def _offsets_of(counts):
    return C.tensor([0, *C.tensor(counts, dtype=C.int64).cumsum(0).tolist()], dtype=C.int64)


# ---- making ----------------------------------------------------------------------------------------------------------
def _batch(tensors, layout):
    if layout is None or layout == C.strided:
        return _made(tensors)
    if layout != C.jagged:
        raise RuntimeError(f"Specified layout is unsupported for nested tensors: {layout}")
    if any(t.shape[1:] != tensors[0].shape[1:] for t in tensors):
        raise RuntimeError("Shapes of all tensors except the first dimension need to be the same for torch.jagged")
    return _made([C.cat(tensors)], _offsets_of([t.shape[0] for t in tensors]), NestedInt())


def nested_tensor(tensor_list, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A batch of copies, a leaf."""
    made = [t.detach().clone() if isinstance(t, C.Tensor) else C.tensor(t) for t in tensor_list]
    batch = _batch([t if dtype is None else t.to(dtype) for t in made], layout)
    for held in batch._held:
        held.requires_grad_(requires_grad)
    return batch


def as_nested_tensor(ts, dtype=None, device=None, layout=None):
    """A batch through which gradients pass to the tensors: a list of them, or the rows of one."""
    if isinstance(ts, NestedTensor):
        return ts
    if isinstance(ts, C.Tensor):
        ts = ts.unbind()
    elif not isinstance(ts, (list, tuple)) or not all(isinstance(t, C.Tensor) for t in ts):
        raise TypeError("as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors")
    return _batch([t if dtype is None else t.to(dtype) for t in ts], layout)


def nested_tensor_from_jagged(values, offsets=None, lengths=None, jagged_dim=None, min_seqlen=None, max_seqlen=None):
    """A jagged batch of rows that lie behind one another."""
    if offsets is None:
        if lengths is None:
            raise RuntimeError("nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
        offsets, lengths = C.cat([lengths.new_zeros(1), lengths.cumsum(0)]), None
    if jagged_dim not in (None, 1):
        raise NotImplementedError("nested_tensor_from_jagged(jagged_dim other than 1) is not in Terra yet")
    return _made([values], offsets, NestedInt(), lengths=lengths)


def narrow(tensor, dim, start, length, layout=C.strided):
    """Of each row of a tensor the elements from start on."""
    if dim != 1:
        raise RuntimeError("Narrow supports only narrowing along dim 1")
    count = tensor.shape[0]
    starts, lengths = (v.tolist() if isinstance(v, C.Tensor) else [v] * count for v in (start, length))
    return _batch([tensor[i, s : s + n] for i, (s, n) in enumerate(zip(starts, lengths))], layout)


def masked_select(tensor, mask):
    """Of each row the elements where the mask is True, as a jagged batch."""
    return _batch([row[kept] for row, kept in zip(tensor, mask.expand(tensor.shape))], C.jagged)


def to_padded_tensor(input, padding, output_size=None, out=None):
    """One tensor of all, filled up with a number."""
    tensors = parts(input)
    sizes = [max(t.shape[d] for t in tensors) for d in range(tensors[0].dim())] if output_size is None else list(output_size[1:])
    padded = [
        F.pad(t, [end for d in reversed(range(t.dim())) for end in (0, sizes[d] - t.shape[d])], value=padding) for t in tensors
    ]
    return C.stack(padded)


# ---- ops -------------------------------------------------------------------------------------------------------------
def _each(function, broadcasts=False):
    """An op of what is held: it leaves the differing dimension alone. Other operands that are batches are of the same sizes; with
    `broadcasts` other tensors have the same dimensions, or fewer."""

    def applied(*args, **kwargs):
        batches = [value for value in args if isinstance(value, NestedTensor)]
        first = batches[0]
        if any([h.shape for h in other._held] != [h.shape for h in first._held] for other in batches[1:]):
            raise RuntimeError("nested tensors in one op are of the same sizes")
        if broadcasts:
            args = [_without_batch(value, first.dim()) for value in args]
        held = [
            function(*(value._held[i] if isinstance(value, NestedTensor) else value for value in args), **kwargs)
            for i in range(len(first._held))
        ]
        return _like(first, held)

    return applied


def _without_batch(value, dims):
    """An operand that is the same for all tensors of the batch."""
    if isinstance(value, NestedTensor) or not isinstance(value, C.Tensor) or value.dim() < dims:
        return value
    if value.dim() > dims or value.shape[0] != 1:
        raise NotImplementedError("an op of a nested tensor and of one that differs along the batch is not in Terra yet")
    return value.squeeze(0)


def _trailing(name):
    """An op along a dimension behind the differing one, which is one less of what is held."""

    def function(self, *args, dim=None, **kwargs):
        position = 0 if dim is None else None
        d = args[0] if position == 0 else dim
        d = d % self.dim() if isinstance(d, int) else d
        if not isinstance(d, int) or d < 2 or self._ragged != 1:
            return _along(name, self, d, args[1:] if position == 0 else args, kwargs)
        given = (d - 1, *args[1:]) if position == 0 else args
        found = [getattr(C, name)(held, *given, **kwargs, **({} if position == 0 else {"dim": d - 1})) for held in self._held]
        return _like(self, found)

    return function


def _along(name, self, dim, args, kwargs):
    """A reduction along the differing dimension is a tensor; over everything, it's one of all elements."""
    if dim is None and name in ("sum", "mean"):
        return getattr(C, name)(C.cat([held.reshape(-1) for held in self._held]), **kwargs)
    if dim in (1, (1,), [1]) and self._ragged == 1 and name in ("sum", "mean", "amax", "amin", "prod"):
        return C.stack([getattr(C, name)(part, 0, *args, **kwargs) for part in parts(self)])
    if name in ("softmax", "log_softmax") and dim == self._ragged:
        return _of_parts([getattr(C, name)(part, 0) for part in _rows(self)], self)
    raise NotImplementedError(f"{name}() of nested tensors along dimension {dim} is not in Terra yet")


def _optional_dim(name):
    inner = _trailing(name)

    def function(self, *args, **kwargs):
        if not args and kwargs.get("dim") is None:
            kwargs.pop("dim", None)
            return _along(name, self, None, (), kwargs)
        first = args[0] if args else kwargs["dim"]
        if isinstance(first, (list, tuple)) and len(first) == 1:
            args, kwargs = ((first[0], *args[1:]), kwargs) if args else (args, kwargs | {"dim": first[0]})
        return inner(self, *args, **kwargs)

    return function


def _softmax(name):
    return lambda self, dim=None, _stacklevel=3, dtype=None: _trailing(name)(self, dim)


def transpose(self, dim0, dim1):
    dims = sorted((dim0 % self.dim(), dim1 % self.dim()))
    if dims[0] == 0:
        raise RuntimeError("Nested tensor dimension 0 cannot be transposed")
    if self._offsets is None:
        return _made([part.transpose(dims[0] - 1, dims[1] - 1) for part in self._held])
    if self._ragged not in dims:
        return _like(self, [self._held[0].transpose(*(d if d < self._ragged else d - 1 for d in dims))])
    other = dims[1] if dims[0] == self._ragged else dims[0]
    if {self._ragged, other} != {1, 2}:
        raise NotImplementedError("transpose() of the differing dimension with another than its neighbour is not in Terra yet")
    return _made(self._held, self._offsets, self._size, other, self._lengths)


def view(self, *shape):
    """-1, or the size itself, stands for the differing dimension, which is the first after the batch."""
    shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    if self._ragged != 1 or shape[1] not in (-1, self._size):
        raise NotImplementedError("view() and reshape() of nested tensors keep the differing dimension")
    return _like(self, [held.reshape(held.shape[0], *shape[2:]) for held in self._held])


def unflatten(self, dim, sizes):
    dim %= self.dim()
    return _like(self, [held.unflatten(dim - 1, sizes) for held in self._held])


def flatten(self, start_dim=0, end_dim=-1):
    start, end = start_dim % self.dim(), end_dim % self.dim()
    return _like(self, [held.flatten(start - 1, end - 1) for held in self._held])


def unsqueeze(self, dim):
    return _like(self, [held.unsqueeze(dim if dim < 0 else dim - 1) for held in self._held])


def chunk(self, chunks, dim=0):
    found = [held.chunk(chunks, dim if dim < 0 else dim - 1) for held in self._held]
    return tuple(_like(self, list(held)) for held in zip(*found))


def cat(tensors, dim=0):
    first = tensors[0]
    if dim == 0:
        return _of_parts([part for t in tensors for part in parts(t)], first)
    return _like(first, [C.cat(held, dim if dim < 0 else dim - 1) for held in zip(*(t._held for t in tensors))])


def matmul(input, other):
    if isinstance(input, NestedTensor) and isinstance(other, NestedTensor):
        return _made([a @ b for a, b in zip(parts(input), parts(other))])
    return _each(C.matmul)(input, other)


def getitem(self, index):
    if isinstance(index, int):
        return parts(self)[index]
    raise NotImplementedError("a nested tensor is indexed by the number of a tensor")


def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """Each tensor for itself: (heads, rows, features)."""
    rows = zip(parts(query), parts(key), parts(value))
    found = [F.scaled_dot_product_attention(q, k, v, None, dropout_p, is_causal, scale=scale) for q, k, v in rows]
    if query._offsets is None:
        return _made(found)
    return _like(query, [C.cat([part.movedim(query._ragged - 1, 0) for part in found])])


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return _like(input, [F.layer_norm(held, normalized_shape, weight, bias, eps) for held in input._held])


def _functions():
    elements = (
        "abs", "acos", "asin", "atan", "ceil", "clamp", "clone", "contiguous", "cos", "cosh", "detach", "exp", "floor", "log",
        "neg", "pow", "reciprocal", "round", "rsqrt", "sgn", "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh",
        "trunc", "add", "sub", "mul", "div", "eq", "ne", "lt", "le", "gt", "ge", "maximum", "minimum", "logical_not",
        "logical_and", "logical_or", "masked_fill", "nan_to_num", "isnan", "to", "float", "double", "half", "bfloat16", "long",
        "int", "bool", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__",
        "__pow__", "__neg__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "cpu",
    )  # fmt: skip
    yield from ((name, _each(getattr(C.Tensor, name), broadcasts=True)) for name in elements)
    yield from (
        (name, _each(getattr(C, name)))
        for name in ("zeros_like", "ones_like", "rand_like", "randn_like", "empty_like", "full_like", "where")
    )
    for name in ("dropout", "elu", "gelu", "hardtanh", "leaky_relu", "linear", "mish", "relu6", "silu", "softplus"):
        yield name, _each(getattr(F, name))
    yield from ((name, _optional_dim(name)) for name in ("sum", "mean", "amax", "amin", "prod", "argmax", "argmin", "cumsum"))
    yield from ((name, _softmax(name)) for name in ("softmax", "log_softmax"))
    yield from {
        "transpose": transpose, "view": view, "reshape": view, "unflatten": unflatten, "flatten": flatten, "unsqueeze": unsqueeze,
        "chunk": chunk, "cat": cat, "relu": lambda self, inplace=False: _like(self, [C.relu(held) for held in self._held]),
        "matmul": matmul, "bmm": matmul, "__matmul__": matmul, "__getitem__": getitem, "scaled_dot_product_attention": attention,
        "layer_norm": layer_norm, "is_contiguous": lambda self: self._ragged == 1, "unbind": lambda self, dim=0: tuple(parts(self)),
        "is_same_size": lambda a, b: [h.shape for h in a._held] == [h.shape for h in b._held],
    }.items()  # fmt: skip


FUNCTIONS = dict(_functions())
