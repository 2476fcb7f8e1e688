"""Which ops PyTorch makes of the functions that its dispatcher never sees: linear() is t() and addmm(). A rule gives NotImplemented
for arguments of which it knows nothing: then the function runs, and what it calls is seen instead."""

import importlib
import math

import _terra_C as C

from ..ops import aten

# Names of functions that are ops under another name.
ALIASES = {
    "absolute": "abs", "arccos": "acos", "arcsin": "asin", "arctan": "atan", "arctan2": "atan2", "clip": "clamp", "clip_": "clamp_",
    "concat": "cat", "concatenate": "cat", "divide": "div", "true_divide": "div", "fix": "trunc", "greater": "gt",
    "greater_equal": "ge", "less": "lt", "less_equal": "le", "multiply": "mul", "negative": "neg", "not_equal": "ne",
    "subtract": "sub", "swapaxes": "transpose", "swapdims": "transpose", "linalg_matmul": "matmul", "item": "_local_scalar_dense",
    "special_expm1": "expm1", "special_xlogy": "xlogy",
    "__abs__": "abs", "__neg__": "neg", "__invert__": "bitwise_not", "__add__": "add", "__radd__": "add", "__iadd__": "add_",
    "__sub__": "sub", "__isub__": "sub_", "__rsub__": "rsub", "__mul__": "mul", "__rmul__": "mul", "__imul__": "mul_",
    "__truediv__": "div", "__itruediv__": "div_", "__floordiv__": "floor_divide", "__mod__": "remainder", "__pow__": "pow",
    "__eq__": "eq", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge", "__and__": "bitwise_and",
    "__or__": "bitwise_or", "__xor__": "bitwise_xor", "__iand__": "bitwise_and_", "__ior__": "bitwise_or_",
    "__float__": "_local_scalar_dense",
    "__int__": "_local_scalar_dense", "__index__": "_local_scalar_dense", "__bool__": "_local_scalar_dense",
}  # fmt: skip

# Functions in Python that are ops to PyTorch.
WRITTEN_AS_OPS = frozenset((
    "allclose", "bilinear", "celu", "elu", "elu_", "equal", "gelu", "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_", "mish",
    "nan_to_num", "relu_", "softplus", "where", "zero_", "hardswish", "hardsigmoid", "silu",
))  # fmt: skip

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _converted(input, dtype):
    return input if dtype is None or dtype == input.dtype else aten._to_copy.default(input, dtype=dtype)


# ---- shapes ----------------------------------------------------------------------------------------------------------
def _can_view(input, shape):
    """Whether the elements lie so that this shape is a view: runs of dimensions that follow one another are cut anew."""
    if input.numel() == 0:
        return True
    strides, sizes, at = input.stride(), input.shape, len(shape) - 1
    run, base = 1, None
    for d in range(len(sizes) - 1, -1, -1):
        base = strides[d] if base is None else base
        run *= sizes[d]
        if d == 0 or (sizes[d - 1] != 1 and strides[d - 1] != run * base):
            covered = 1
            while at >= 0 and (covered < run or shape[at] == 1):
                covered *= shape[at]
                at -= 1
            if covered != run:
                return False
            run, base = 1, None
    return at == -1


def reshape(self, *shape, **named):
    shape = named.get("shape", shape)
    shape = list(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else list(shape)
    if -1 in shape:
        rest = -math.prod(shape)
        shape[shape.index(-1)] = self.numel() // rest if rest else 0
    if _can_view(self, shape):
        return aten.view.default(self, shape)
    return aten._unsafe_view.default(aten.clone.default(self, memory_format=C.contiguous_format), shape)


def flatten(input, start_dim=0, end_dim=-1):
    rank = input.dim()
    start, end = start_dim % max(rank, 1), end_dim % max(rank, 1)
    if rank == 0:
        return reshape(input, [1])
    if start == end:
        return input
    return reshape(input, [*input.shape[:start], math.prod(input.shape[start : end + 1]), *input.shape[end + 1 :]])


def contiguous(self, *, memory_format=None):
    if memory_format not in (None, C.contiguous_format):
        return NotImplemented
    return self if self.is_contiguous() else aten.clone.default(self, memory_format=C.contiguous_format)


def to(self, *args, **kwargs):
    from .._device import parse_to

    device, dtype, non_blocking, memory_format = parse_to(args, kwargs)
    named = {"dtype": dtype} if dtype not in (None, self.dtype) else {}
    if device is not None and device != self.device:
        named["device"] = device
    if not named and not kwargs.get("copy") and True not in args:
        return self
    return aten._to_copy.default(self, **named)


def _to(dtype):
    return lambda self: _converted(self, dtype)


def reversed_dims(self):
    return aten.permute.default(self, list(range(self.dim() - 1, -1, -1)))


def last_swapped(self):
    return aten.transpose.int(self, -2, -1)


def expand(self, *size, **named):
    size = named.get("size", size)
    return aten.expand.default(self, list(size[0]) if len(size) == 1 and not isinstance(size[0], int) else list(size))


def narrow(input, dim, start, length):
    return aten.slice.Tensor(input, dim, start, start + length)


def split(self, split_size_or_sections=None, dim=0, split_size=None):
    sizes = split_size if split_size_or_sections is None else split_size_or_sections
    return aten.split.Tensor(self, sizes, dim) if isinstance(sizes, int) else aten.split_with_sizes.default(self, list(sizes), dim)


def chunk(self, chunks, dim=0):
    return aten.split.Tensor(self, max(1, -(-self.size(dim) // chunks)), dim)


def movedim(self, source, destination):
    rank = self.dim()
    sources = [d % rank for d in ([source] if isinstance(source, int) else source)]
    places = [d % rank for d in ([destination] if isinstance(destination, int) else destination)]
    rest = iter(d for d in range(rank) if d not in sources)
    return aten.permute.default(self, [sources[places.index(i)] if i in places else next(rest) for i in range(rank)])


def tile(self, *dims, **named):
    dims = named.get("dims", dims)
    dims = list(dims[0]) if len(dims) == 1 and not isinstance(dims[0], int) else list(dims)
    return aten.repeat.default(self, [1] * (self.dim() - len(dims)) + dims)


def view_as(self, other):
    return aten.view.default(self, list(other.shape))


def expand_as(self, other):
    return aten.expand.default(self, list(other.shape))


# ---- x[...] ----------------------------------------------------------------------------------------------------------
def _viewed(self, index):
    """(the view that numbers, slices, None and ... give, the tensors that are left, by dimension); None: of something else."""
    items = index if isinstance(index, tuple) else (index,)
    dim, tensors = 0, []
    for at, item in enumerate(items):
        if item is Ellipsis:
            dim = self.dim() - sum(_dims_of(other) for other in items[at + 1 :])
        elif item is None:
            self = aten.unsqueeze.default(self, dim)
            dim += 1
        elif isinstance(item, bool):
            return None
        elif isinstance(item, int):
            self = aten.select.int(self, dim, item)
        elif isinstance(item, slice):
            start, stop, step = item.start or 0, (1 << 63) - 1 if item.stop is None else item.stop, item.step or 1
            if not all(isinstance(bound, int) for bound in (start, stop, step)):
                return None
            if item != slice(None):
                self = aten.slice.Tensor(self, dim, start, stop, step)
            dim += 1
        elif isinstance(item, (C.Tensor, list)):
            item = item if isinstance(item, C.Tensor) else aten.lift_fresh.default(C.tensor(item))
            if _dims_of(item) != 1 and at + 1 < len(items):
                return None
            tensors += [*[None] * (dim - len(tensors)), item]
            dim += 1
        else:
            return None
    return self, tensors


def _dims_of(item):
    """How many dimensions an item of an index takes."""
    if isinstance(item, C.Tensor) and item.dtype in (C.bool, C.uint8):
        return item.dim()
    return int(item is not None)


def getitem(self, index):
    found = _viewed(self, index)
    if found is None:
        return NotImplemented
    view, tensors = found
    if tensors:
        return aten.index.Tensor(view, tensors)
    return aten.alias.default(self) if view is self else view


def setitem(self, index, value):
    found = _viewed(self, index)
    if found is None:
        return NotImplemented
    view, tensors = found
    if tensors:
        if not isinstance(value, C.Tensor):
            value = aten.lift_fresh.default(C.tensor(value, dtype=self.dtype))
        aten.index_put_.default(view, tensors, _converted(value, self.dtype))
    elif isinstance(value, C.Tensor):
        aten.copy_.default(view, value)
    else:
        aten.fill_.Scalar(view, value)
    return None


# ---- products --------------------------------------------------------------------------------------------------------
def matmul(input, other):
    a, b = input.dim(), other.dim()
    if a == 1 and b == 1:
        return aten.dot.default(input, other)
    if a == 2 and b == 1:
        return aten.mv.default(input, other)
    if a == 1 and b == 2:
        return aten.squeeze.dim(aten.mm.default(aten.unsqueeze.default(input, 0), other), 0)
    if a == 2 and b == 2:
        return aten.mm.default(input, other)
    if a == 0 or b == 0:
        return NotImplemented
    if a >= 3 and b <= 2 and _folds(input, other):
        return _folded(input, other)
    if b >= 3 and a <= 2 and _folds(other.mT, input.t() if a == 2 else input):
        turned = aten.transpose.int(other, -2, -1)
        result = _folded(turned, aten.t.default(input) if a == 2 else input)
        return aten.transpose.int(result, -2, -1) if a == 2 else result
    return _batched(input, other)


def _folds(larger, smaller):
    if smaller.requires_grad or larger.numel() == 0:
        return True
    sizes, strides = larger.shape, larger.stride()
    return all(strides[d] == sizes[d + 1] * strides[d + 1] for d in range(len(sizes) - 2))


def _folded(larger, smaller):
    """All rows at once."""
    rows = reshape(larger, [math.prod(larger.shape[:-1]), larger.shape[-1]])
    if smaller.dim() == 1:
        return aten._unsafe_view.default(aten.mv.default(rows, smaller), list(larger.shape[:-1]))
    return aten._unsafe_view.default(aten.mm.default(rows, smaller), [*larger.shape[:-1], smaller.shape[1]])


def _batched(a, b):
    drops = [-2] * (a.dim() == 1) + [-1] * (b.dim() == 1)
    a = aten.unsqueeze.default(a, 0) if a.dim() == 1 else a
    b = aten.unsqueeze.default(b, 1) if b.dim() == 1 else b
    batch = _broadcast(a.shape[:-2], b.shape[:-2])
    flat = []
    for operand in (a, b):
        wide = aten.expand.default(operand, [*batch, *operand.shape[-2:]])
        flat.append(reshape(wide, [math.prod(batch), *operand.shape[-2:]]))
    shape = [*batch, *([a.shape[-2]] if -2 not in drops else []), *([b.shape[-1]] if -1 not in drops else [])]
    return aten._unsafe_view.default(aten.bmm.default(*flat), shape)


def _broadcast(a, b):
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    shorter = [1] * (len(longer) - len(shorter)) + list(shorter)
    return [y if x == 1 else x for x, y in zip(longer, shorter)]


def linear(input, weight, bias=None):
    if input.dim() == 1 and bias is not None:
        return aten.squeeze.dim(linear(aten.unsqueeze.default(input, 0), weight, bias), 0)
    together = bias is not None and input.dim() > 2 and input.is_contiguous()
    rows = reshape(input, [math.prod(input.shape[:-1]), input.shape[-1]]) if together else input
    turned = aten.t.default(weight)
    if bias is not None and rows.dim() == 2:
        result = aten.addmm.default(bias, rows, turned)
        return aten._unsafe_view.default(result, [*input.shape[:-1], weight.shape[0]]) if together else result
    result = matmul(input, turned)
    return result if bias is None else aten.add.Tensor(result, bias)


def outer(self, vec2):
    return aten.mul.Tensor(reshape(self, [self.size(0), 1]), vec2)


# ---- layers ----------------------------------------------------------------------------------------------------------
def _of_each(value, n):
    return [value] * n if isinstance(value, int) else list(value) * (n if len(value) == 1 else 1)


def _convolution(n, transposed):
    def convolve(input, weight, bias, stride, padding, dilation, output_padding, groups):
        single = input.dim() == n + 1
        input = aten.unsqueeze.default(input, 0) if single else input
        lists = [_of_each(value, n) for value in (stride, padding, dilation)]
        result = aten.convolution.default(input, weight, bias, *lists, transposed, _of_each(output_padding, n), groups)
        return aten.squeeze.dim(result, 0) if single else result

    def forward(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        if isinstance(padding, str):
            total = [d * (k - 1) * (padding == "same") for d, k in zip(_of_each(dilation, n), weight.shape[2:])]
            if any(t % 2 for t in total):
                return NotImplemented
            padding = [t // 2 for t in total]
        return convolve(input, weight, bias, stride, padding, dilation, 0, groups)

    def backward(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        return convolve(input, weight, bias, stride, padding, dilation, output_padding, groups)

    return backward if transposed else forward


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    lists = [
        [*_of_each(kernel_size, 2)],
        [] if stride is None else _of_each(stride, 2),
        _of_each(padding, 2),
        _of_each(dilation, 2),
    ]
    result = aten.max_pool2d_with_indices.default(input, *lists, ceil_mode)
    return tuple(result) if return_indices else result[0]


def avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    lists = [_of_each(kernel_size, 2), [] if stride is None else _of_each(stride, 2), _of_each(padding, 2)]
    return aten.avg_pool2d.default(input, *lists, ceil_mode, count_include_pad, divisor_override)


def adaptive_avg_pool2d(input, output_size):
    size = [
        s if w is None else w for s, w in zip(input.shape[-2:], _of_each(output_size, 2) if output_size is not None else [None] * 2)
    ]
    if size == [1, 1]:
        return aten.mean.dim(input, [-1, -2], True)
    return aten._adaptive_avg_pool2d.default(input, size)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return aten.native_layer_norm.default(input, list(normalized_shape), weight, bias, eps)[0]


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    n, c = input.shape[:2]
    return aten.native_group_norm.default(input, weight, bias, n, c, math.prod(input.shape[2:]), num_groups, eps)[0]


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    return aten.native_batch_norm.default(input, weight, bias, running_mean, running_var, training, momentum, eps)[0]


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    if max_norm is not None or sparse or scale_grad_by_freq:
        return NotImplemented
    return aten.embedding.default(weight, input, -1 if padding_idx is None else padding_idx % weight.size(0))


def dropout(input, p=0.5, training=True, inplace=False):
    if inplace or not 0.0 <= p < 1.0:
        return NotImplemented
    if not training or p == 0.0:
        return input
    drawn = aten.bernoulli_.float(aten.empty_like.default(input), 1 - p)
    return aten.mul.Tensor(input, aten.div_.Scalar(drawn, 1 - p))


def relu6(input, inplace=False):
    return (aten.hardtanh_ if inplace else aten.hardtanh).default(input, 0, 6)


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    if dim is None:
        return NotImplemented
    return aten._softmax.default(_converted(input, dtype), dim, False)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    if dim is None:
        return NotImplemented
    return aten._log_softmax.default(_converted(input, dtype), dim, False)


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if enable_gqa:
        return NotImplemented
    masked = attn_mask is not None and attn_mask.requires_grad
    if dropout_p == 0.0 and not masked and query.shape[-1] == value.shape[-1] and not (is_causal and attn_mask is not None):
        named = {} if attn_mask is None else {"attn_mask": _bias(attn_mask, query)}
        named |= {} if scale is None else {"scale": scale}
        single = query.dim() == 3
        if query.dim() not in (3, 4):
            return NotImplemented
        operands = [aten.unsqueeze.default(t, 0) if single else t for t in (query, key, value)]
        flash = aten._scaled_dot_product_flash_attention_for_cpu.default
        result = flash(*operands, *((0.0, True) if is_causal else ()), **named)[0]
        return aten.squeeze.dim(result, 0) if single else result
    return _attention_of_products(query, key, value, attn_mask, dropout_p, is_causal, scale)


def _bias(mask, query):
    if mask.dtype != C.bool:
        return mask
    return aten.where.self(mask, _number(0.0, query.dtype), _number(-math.inf, query.dtype))


def _attention_of_products(query, key, value, mask, dropout_p, is_causal, scale):
    if is_causal:
        square = aten.ones.default([query.size(-2), key.size(-2)], dtype=C.bool)
        mask = aten.tril.default(square)
    factor = math.sqrt(scale if scale is not None else 1 / math.sqrt(query.size(-1)))
    query = aten.mul.Scalar(query, factor)
    scores = matmul(query, aten.mul.Scalar(aten.transpose.int(key, -2, -1), factor))
    if mask is not None:
        scores = aten.add.Tensor(scores, _bias(mask, query))
    weights = aten._safe_softmax.default(scores, -1)
    return matmul(dropout(weights, dropout_p), value)


# ---- losses ----------------------------------------------------------------------------------------------------------
def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"):
    if size_average is not None or reduce is not None or input.dim() not in (1, 2, 4):
        return NotImplemented
    op = aten.nll_loss2d_forward if input.dim() == 4 else aten.nll_loss_forward
    return op.default(input, target, weight, REDUCTIONS[reduction], ignore_index)[0]


def cross_entropy(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
):
    if label_smoothing or target.dtype.is_floating_point or input.dim() not in (1, 2) or size_average is not None:
        return NotImplemented
    scores = aten._log_softmax.default(input, 0 if input.dim() == 1 else 1, False)
    return nll_loss(scores, target, weight, None, ignore_index, None, reduction)


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    if size_average is not None or reduce is not None or weight is not None or input.shape != target.shape:
        return NotImplemented
    return aten.mse_loss.default(input, target, REDUCTIONS[reduction])


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    if size_average is not None or reduce is not None:
        return NotImplemented
    return aten.binary_cross_entropy.default(input, target, weight, REDUCTIONS[reduction])


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None):
    if size_average is not None or reduce is not None:
        return NotImplemented
    return aten.binary_cross_entropy_with_logits.default(input, target, weight, pos_weight, REDUCTIONS[reduction])


# ---- others ----------------------------------------------------------------------------------------------------------
def pad(input, pad, mode="constant", value=None):
    return NotImplemented if mode != "constant" else aten.constant_pad_nd.default(input, list(pad), 0.0 if value is None else value)


def _number(value, dtype):
    return aten.scalar_tensor.default(value, dtype=dtype, layout=C.strided, device=C._get_default_device())


def where(condition, self=None, other=None, **named):
    if self is None or "out" in named or "input" in named:
        return NotImplemented
    tensors = [t for t in (self, other) if isinstance(t, C.Tensor)]
    like = tensors[0].dtype if tensors else C.get_default_dtype()
    return aten.where.self(condition, *(t if isinstance(t, C.Tensor) else _number(t, like) for t in (self, other)))


def where_method(self, condition, other):
    return where(condition, self, other)


def rdiv(self, other):
    return aten.mul.Tensor(aten.reciprocal.default(self), other)


def rpow(self, other):
    return aten.pow.Scalar(other, self) if not isinstance(other, C.Tensor) else aten.pow.Tensor_Tensor(other, self)


def truth(self):
    return bool(aten._local_scalar_dense.default(self))


def square(self):
    return aten.pow.Tensor_Scalar(self, 2)


def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
    if p not in ("fro", None) and not isinstance(p, (int, float)) or dtype is not None:
        return NotImplemented
    dims = None if dim is None else [dim] if isinstance(dim, int) else list(dim)
    return aten.linalg_vector_norm.default(self, 2 if p in ("fro", None) else p, dims, keepdim)


def _deviation(name):
    """var(x, dim) divides by one less than the count."""

    def rule(self, *args, **kwargs):
        from .dispatch import op_called

        if "correction" not in kwargs and "unbiased" not in kwargs and len(args) == 1 and not isinstance(args[0], bool):
            kwargs["correction"] = 1
        return op_called(name, self, *args, **kwargs)

    return rule


def sgd_update(params, grads, momentum_buffers, lr, momentum, dampening, weight_decay, nesterov, maximize, first):
    for i, (param, g) in enumerate(zip(params, grads)):
        g = aten.neg.default(g) if maximize else g
        g = aten.add.Tensor(g, param, alpha=weight_decay) if weight_decay else g
        if momentum:
            buffer = momentum_buffers[i]
            if first:
                aten.copy_.default(buffer, g)
            else:
                aten.add_.Tensor(aten.mul_.Tensor(buffer, momentum), g, alpha=1 - dampening)
            g = aten.add.Tensor(g, buffer, alpha=momentum) if nesterov else buffer
        aten.add_.Tensor(param, g, alpha=-lr)
    return [*params, *momentum_buffers]


def adam_update(params, grads, exp_avgs, exp_avg_sqs, step, lr, beta1, beta2, eps, weight_decay, decoupled, maximize):
    for param, g, average, square_average in zip(params, grads, exp_avgs, exp_avg_sqs):
        g = aten.neg.default(g) if maximize else g
        if weight_decay and decoupled:
            aten.mul_.Tensor(param, 1 - lr * weight_decay)
        elif weight_decay:
            g = aten.add.Tensor(g, param, alpha=weight_decay)
        aten.lerp_.Scalar(average, g, 1 - beta1)
        aten.addcmul_.default(aten.mul_.Tensor(square_average, beta2), g, g, value=1 - beta2)
        root = aten.div.Tensor(aten.sqrt.default(square_average), (1 - beta2**step) ** 0.5)
        aten.addcdiv_.default(param, average, aten.add_.Tensor(root, eps), value=-lr / (1 - beta1**step))
    return [*params, *exp_avgs, *exp_avg_sqs]


def new_tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    from .dispatch import passing

    made = aten.lift_fresh.default(passing(C.tensor, data, dtype=dtype))
    return made.requires_grad_() if requires_grad else made


def data(self):
    return aten.detach.default(self)


ATTRIBUTES = {"T": reversed_dims, "mT": last_swapped, "data": data}

# By name, for functions and methods alike.
RULES = {
    "reshape": reshape, "flatten": flatten, "contiguous": contiguous, "to": to, "float": _to(C.float32), "double": _to(C.float64),
    "half": _to(C.float16), "bfloat16": _to(C.bfloat16), "long": _to(C.int64), "int": _to(C.int32), "bool": _to(C.bool),
    "cpu": lambda self: self, "type_as": lambda self, other: _converted(self, other.dtype), "narrow": narrow, "split": split,
    "chunk": chunk, "movedim": movedim, "moveaxis": movedim, "tile": tile, "view_as": view_as, "expand_as": expand_as, "expand":
    expand, "__getitem__": getitem, "__setitem__": setitem, "matmul": matmul, "__matmul__": matmul, "linear": linear, "outer":
    outer, "softmax": softmax, "log_softmax": log_softmax, "square": square, "__rtruediv__": rdiv, "__rdiv__": rdiv, "__rpow__":
    rpow, "__bool__": truth,
    **{name: _deviation(name) for name in ("var", "std", "var_mean", "std_mean")}, "sgd_update": sgd_update, "adam_update": adam_update,
    "norm": norm, "tensor": new_tensor, "relu6": relu6,
}  # fmt: skip

_OF_LAYERS = {
    **{f"conv{n}d": _convolution(n, False) for n in (1, 2, 3)}, **{f"conv_transpose{n}d": _convolution(n, True) for n in (1, 2, 3)},
    "adaptive_avg_pool2d": adaptive_avg_pool2d, "avg_pool2d": avg_pool2d, "batch_norm": batch_norm,
    "binary_cross_entropy": binary_cross_entropy, "binary_cross_entropy_with_logits": binary_cross_entropy_with_logits,
    "cross_entropy": cross_entropy, "dropout": dropout, "embedding": embedding, "group_norm": group_norm, "layer_norm": layer_norm,
    "max_pool2d": max_pool2d, "mse_loss": mse_loss, "nll_loss": nll_loss, "pad": pad, "relu6": relu6,
    "scaled_dot_product_attention": scaled_dot_product_attention, "where": where,
}  # fmt: skip


def rules():
    """{function: rule} of functions whose name alone doesn't say which they are."""
    layers = importlib.import_module(__name__.rpartition("._aten")[0] + ".nn.functional")
    found = {getattr(layers, name): rule for name, rule in _OF_LAYERS.items() if hasattr(layers, name)}
    top = importlib.import_module(__name__.rpartition("._aten")[0])
    for n in (1, 2, 3):
        found[getattr(top, f"conv{n}d")] = _OF_LAYERS[f"conv{n}d"]
    found[top.where], found[C.Tensor.where] = where, where_method
    return found
