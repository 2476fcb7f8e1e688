"""Functions of the top level that are rarely called and written in others; loaded when one of them is first used."""

import itertools
import math
import warnings
from builtins import range as _numbers

import _terra_C as C

from ._functions import _at_least, _into
from ._histograms import histogram  # noqa: F401
from .autograd.function import Function
from .nn.functional._words import scalar_type


# ---- shapes and memory ---------------------------------------------------------------------------------------------
def broadcast_shapes(*shapes):
    """The shape that tensors of these shapes broadcast to."""
    sizes = []
    for position, shape in enumerate(shapes):
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        sizes = [1] * (len(shape) - len(sizes)) + sizes
        for i in _numbers(-1, -len(shape) - 1, -1):
            if shape[i] < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({shape[i]}): ({shape[i]})")
            if shape[i] == 1 or shape[i] == sizes[i]:
                continue
            if sizes[i] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {shape[i]} at {i}! Mismatching argument at index "
                    f"{position} had {shape}; but expected shape should be broadcastable to {sizes}"
                )
            sizes[i] = shape[i]
    return C.Size(sizes)


def atleast_3d(*tensors):
    """Tensors with dimensions of size 1 in front of and behind vectors, behind matrices."""

    def widened(t):
        if t.dim() < 2:
            return t.reshape(1, -1, 1)
        return t.unsqueeze(-1) if t.dim() == 2 else t

    return _at_least(tensors, widened)


def empty_strided(size, stride, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A tensor of any elements that lie in these strides."""
    if len(size) != len(stride):
        raise RuntimeError(f"mismatch in length of strides and shape. Got size {list(size)} and stride {list(stride)}")
    if any(s < 0 for s in stride):
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: " + str(list(stride))
        )
    elements = 0 if 0 in size else 1 + sum((n - 1) * s for n, s in zip(size, stride))
    memory = C.empty(elements, dtype=dtype, device=device)
    return memory.as_strided(tuple(size), tuple(stride)).requires_grad_(requires_grad)


def empty_permuted(
    size, physical_layout, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    """A tensor of any elements that lies in memory with its dimensions in this order."""
    if len(size) != len(physical_layout):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(size)} is not equal to len(physical_layout) = {len(physical_layout)}"
        )
    place = [None] * len(size)
    for position, dim in enumerate(physical_layout):
        if not 0 <= dim < len(size):
            raise RuntimeError(f"Dimension out of range (expected to be between 0 and {len(size) - 1}, but got {dim})")
        if place[dim] is not None:
            raise RuntimeError("Duplicate dim not allowed")
        place[dim] = position
    memory = C.empty(tuple(size[dim] for dim in physical_layout), dtype=dtype, device=device)
    return memory.permute(place).requires_grad_(requires_grad)


def scalar_tensor(s, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A number as a tensor of the default float, or of dtype."""
    return C.full((), s, dtype=dtype or C.get_default_dtype(), device=device, requires_grad=requires_grad)


def range(start=0, end=None, step=1, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """start, start + step, ... up to end itself: what arange was before it left the end out."""
    if end is None:
        raise TypeError('range() missing 1 required positional arguments: "end"')
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        stacklevel=2,
    )
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    steps = math.floor((end - start) / step) + 1
    if dtype in (C.uint16, C.uint32, C.uint64):
        raise NotImplementedError(f"\"range_cpu\" not implemented for '{scalar_type(C.empty(0, dtype=dtype))}'")
    numbers = start + step * C.arange(steps, dtype=C.float64, device=device)
    return _into(out, numbers.to(dtype or C.get_default_dtype())).requires_grad_(requires_grad)


# ---- indices and choices -------------------------------------------------------------------------------------------
def combinations(input, r=2, with_replacement=False):
    """All choices of r elements, one row each."""
    if input.dim() != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return input.new_empty(0)
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(tuple(_numbers(input.numel())), r))
    places = C.tensor(rows, dtype=C.int64).reshape(len(rows), r)
    return input[places]


def unravel_index(indices, shape):
    """The coordinates, one tensor for each dimension, of positions in a flattened tensor of this shape."""
    if (
        not isinstance(indices, C.Tensor)
        or indices.dtype.is_floating_point
        or indices.dtype in (C.bool,)
        or indices.is_complex()
    ):
        raise TypeError(f"expected 'indices' to be integer dtype, but got {getattr(indices, 'dtype', type(indices))}")
    if not isinstance(shape, (int, C.Size, list, tuple)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(n < 0 for n in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {shape}")
    coordinates, indices = [], indices.to(C.int64)
    for n in reversed(shape):
        coordinates.append(indices % n)
        indices = indices // n
    return tuple(reversed(coordinates))


def nonzero_static(input, *, size, fill_value=-1, out=None):
    """The first `size` positions of nonzero elements, one row each; rows that are too many hold fill_value."""
    places = C.nonzero(input)[:size]
    missing = C.full((size - places.size(0), input.dim()), fill_value, dtype=C.int64)
    return _into(out, C.cat([places, missing]))


# ---- numbers -------------------------------------------------------------------------------------------------------
def _spaced_gradient(t, dim, spacing, edge_order):
    n = t.size(dim)
    if n < edge_order + 1:
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")

    def at(first, count):
        return t.narrow(dim, first, count)

    if isinstance(spacing, C.Tensor) and spacing.dim() > 0:
        shape = [1] * t.dim()
        shape[dim] = -1
        gaps = spacing.diff().reshape(shape)
    else:
        shape = [1] * t.dim()
        shape[dim] = n - 1
        gaps = C.full(shape, float(spacing), dtype=t.dtype if t.dtype.is_floating_point else None)
    steps = at(1, n - 1) - at(0, n - 1)
    before, after = gaps.narrow(dim, 0, n - 2), gaps.narrow(dim, 1, n - 2)
    slopes = steps / gaps
    # The parabola through three neighbours: its slope at the one in the middle, and at the outer one.
    left, right = slopes.narrow(dim, 0, n - 2), slopes.narrow(dim, 1, n - 2)
    inside = (left * after + right * before) / (before + after)
    if edge_order == 1:
        first, last = slopes.narrow(dim, 0, 1), slopes.narrow(dim, n - 2, 1)
    else:
        bend = (right - left) / (before + after)
        first = left.narrow(dim, 0, 1) - bend.narrow(dim, 0, 1) * before.narrow(dim, 0, 1)
        last = right.narrow(dim, n - 3, 1) + bend.narrow(dim, n - 3, 1) * after.narrow(dim, n - 3, 1)
    return C.cat([first, inside, last], dim)


def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """The slope along each of some dimensions, estimated from neighbours that are `spacing` apart or at its places."""
    spacing = 1 if spacing is None else spacing
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if input.dtype == C.uint8:
        raise NotImplementedError("torch.gradient does not support uint8 input.")
    given = list(_numbers(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    dims = []
    for d in given:
        if not -input.dim() <= d < input.dim():
            ends = f"[{-input.dim()}, {input.dim() - 1}]"
            raise IndexError(f"Dimension out of range (expected to be in range of {ends}, but got {d})")
        if d % input.dim() in dims:
            raise RuntimeError(f"dim {d % input.dim()} appears multiple times in the list of dims")
        dims.append(d % input.dim())
    spacings = list(spacing) if isinstance(spacing, (list, tuple)) else [spacing] * len(dims)
    if len(spacings) != len(dims):
        wanted, found = "a scalar or it's spacing and dim arguments to have the same length", "a spacing argument"
        of_dims = f" and a dim argument of length {len(dims)}."
        if dim is None:
            wanted = f"a scalar, or a list of length equal to 'self.dim() = {input.dim()}'"
            wanted, found, of_dims = f"{wanted}, since dim argument was not given", "a list", ""
        raise RuntimeError(
            f"torch.gradient expected spacing to be unspecified, {wanted}, but got {found} of length "
            f"{len(spacings)}{of_dims}"
        )
    return tuple(_spaced_gradient(input, d, s, edge_order) for d, s in zip(dims, spacings))


class _FakeQuantize(Function):
    """x as the nearest multiple of a scale that a range of integers reaches; gradients pass where none was cut off."""

    _node_names = {False: "FakeQuantizePerTensorAffineCachemaskBackward0", True: "FakeQuantizePerChannelAffineCachemaskBackward0"}

    @staticmethod
    def forward(ctx, x, scale, zero_point, quant_min, quant_max, per_channel):
        places = C.round(x * (1.0 / scale)) + zero_point
        ctx._name = _FakeQuantize._node_names[per_channel]
        ctx.save_for_backward((places >= quant_min) & (places <= quant_max))
        reached = C.where(places.isnan(), quant_min, places.clamp(quant_min, quant_max))
        return ((reached - zero_point) * scale).to(x.dtype)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0], None, None, None, None, None


def _check_range(zero_point, quant_min, quant_max):
    if quant_min > quant_max:
        raise RuntimeError("`quant_min` should be less than or         equal to `quant_max`.")
    if not quant_min <= zero_point <= quant_max:
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")


def fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max):
    """Rounds to multiples of scale between (quant_min - zero_point) * scale and (quant_max - zero_point) * scale."""
    if not isinstance(zero_point, C.Tensor):
        _check_range(zero_point, quant_min, quant_max)
    return _FakeQuantize.apply(input, scale, zero_point, quant_min, quant_max, False)


def fake_quantize_per_channel_affine(input, scale, zero_point, axis, quant_min, quant_max):
    """The same with a scale and a zero point for each slice along axis."""
    if scale.shape != zero_point.shape:
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    if scale.numel() != input.size(axis):
        raise RuntimeError("dimensions of scale and zero-point are not consistent with input tensor")
    if scale.numel():
        for end in (zero_point.min(), zero_point.max()):
            _check_range(end.item(), quant_min, quant_max)
    sizes = [1] * input.dim()
    sizes[axis] = -1
    return _FakeQuantize.apply(input, scale.view(sizes), zero_point.view(sizes), quant_min, quant_max, True)


# ---- recurrent cells -----------------------------------------------------------------------------------------------
def _gates(input, hidden, w_ih, w_hh, b_ih, b_hh):
    from .nn.functional import linear

    return linear(input, w_ih, b_ih), linear(hidden, w_hh, b_hh)


def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    of_input, of_hidden = _gates(input, hx, w_ih, w_hh, b_ih, b_hh)
    return C.tanh(of_input + of_hidden)


def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    of_input, of_hidden = _gates(input, hx, w_ih, w_hh, b_ih, b_hh)
    return C.relu(of_input + of_hidden)


def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """The next hidden and cell states."""
    of_input, of_hidden = _gates(input, hx[0], w_ih, w_hh, b_ih, b_hh)
    take, keep, new, show = (of_input + of_hidden).chunk(4, -1)
    cell = C.sigmoid(keep) * hx[1] + C.sigmoid(take) * C.tanh(new)
    return C.sigmoid(show) * C.tanh(cell), cell


def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    of_input, of_hidden = _gates(input, hx, w_ih, w_hh, b_ih, b_hh)
    (reset, update, new), (reset_h, update_h, new_h) = of_input.chunk(3, -1), of_hidden.chunk(3, -1)
    candidate = C.tanh(new + C.sigmoid(reset + reset_h) * new_h)
    return candidate + C.sigmoid(update + update_h) * (hx - candidate)


# ---- layers --------------------------------------------------------------------------------------------------------
def norm_except_dim(v, pow=2, dim=0):
    """The norm over all dimensions but one, which keep size 1; dim -1: over all."""
    if dim == -1:
        return v.norm(pow)
    others = [d for d in _numbers(v.dim()) if d != dim % v.dim()]
    return v.norm(pow, others, True) if others else v.abs()


def native_layer_norm(input, normalized_shape, weight, bias, eps):
    """layer_norm with the means and the inverse deviations that it divides by."""
    dims, values = list(_numbers(input.dim() - len(normalized_shape), input.dim())), input.detach()
    mean = values.mean(dims, True)
    inverse = C.rsqrt(values.var(dims, correction=0, keepdim=True) + eps)
    from .nn.functional import layer_norm

    return layer_norm(input, normalized_shape, weight, bias, eps), mean, inverse


def frobenius_norm(input, dim, keepdim=False, *, out=None):
    return _into(
        out, C._ops.linalg_vector_norm(input, 2, list(dim) if isinstance(dim, (list, tuple)) else [dim], keepdim)
    )


def nuclear_norm(input, dim=(-2, -1), keepdim=False, *, out=None):
    return _into(out, C.norm(input, "nuc", list(dim), keepdim))


def segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    """The sum, mean, product or extreme of neighbours along an axis: of lengths[0] slices, the next lengths[1], ...; lengths
    have the dimensions before the axis, too."""
    if (lengths is None) == (offsets is None):
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    if lengths is None:
        lengths = offsets.diff()
    axis = axis % max(data.dim(), 1)
    n, count = data.size(axis), lengths.size(-1)
    if not unsafe and bool((lengths < 0).any() | (lengths.sum(-1) != n).any()):
        raise RuntimeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
            "!unsafe."
        )
    how = {"max": "amax", "min": "amin"}.get(reduce, reduce)
    empty = {"sum": 0.0, "prod": 1.0, "mean": 0.0, "amax": -math.inf, "amin": math.inf}[how] if initial is None else initial
    lead, rest = data.shape[:axis], data.shape[axis + 1 :]
    beside = (*lead, -1, *(1 for _ in rest))
    # What comes behind the last segment goes to one more, which is dropped.
    segment = C.searchsorted(lengths.cumsum(-1), C.arange(n, dtype=lengths.dtype).expand(*lead, n).contiguous(), right=True)
    start = C.full((*lead, count + 1, *rest), empty, dtype=data.dtype)
    result = start.scatter_reduce(
        axis, segment.reshape(beside).expand_as(data), data, "sum" if how == "mean" else how,
        include_self=how == "mean" or initial is not None,
    ).narrow(axis, 0, count)  # fmt: skip
    if how != "mean":
        return result
    filled = lengths.reshape(beside)
    return C.where(filled > 0, result / filled, math.nan if initial is None else initial).to(data.dtype)


_segment_reduce = segment_reduce


def split_with_sizes(input, split_sizes, dim=0):
    return C.split(input, split_sizes, dim)


# ---- functions that change their operand ---------------------------------------------------------------------------
def nan_to_num_(input, nan=0.0, posinf=None, neginf=None):
    return input.copy_(C.Tensor.nan_to_num(input, nan, posinf, neginf))


def zero_(input):
    return input.zero_()


def detach_(input):
    return input.detach_()


def resize_as_(input, the_template, *, memory_format=None):
    return input.resize_as_(the_template, memory_format=memory_format)


# ---- methods -------------------------------------------------------------------------------------------------------
def _check_order(input, formats):
    if not isinstance(formats, list) or not all(isinstance(f, C.memory_format) for f in formats):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    steps = [step for size, step in zip(input.shape, input.stride()) if size != 1]
    ambiguous = len(steps) < input.dim() or len(set(steps)) < len(steps)
    if formats:
        ambiguous = sum(input.is_contiguous(memory_format=f) for f in formats) != 1
    if ambiguous:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
        )


def dim_order(input, *, ambiguity_check=False):
    """The dimensions from the one with the longest steps in memory to the one with the shortest. `ambiguity_check`: True,
    or the formats of which it has to be that of one alone."""
    if ambiguity_check is not False:
        _check_order(input, [] if ambiguity_check is True else ambiguity_check)
    return tuple(sorted(_numbers(input.dim()), key=lambda d: (-input.stride(d), d)))


def const_data_ptr(input):
    return input.data_ptr()



def new_empty_strided(input, size, stride, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    return empty_strided(
        size, stride, dtype=dtype or input.dtype, device=device or input.device, requires_grad=requires_grad
    )


def swapaxes_(input, axis0, axis1):
    return input.transpose_(axis0, axis1)


swapdims_ = swapaxes_


# ---- copies in place of views --------------------------------------------------------------------------------------
def _copying(name):
    """The function whose result is a copy of what the view function or method `name` gives."""

    def function(input, *arguments, out=None, **options):
        view = getattr(C, name, None) or getattr(C.Tensor, name)
        result = view(input, *arguments, **options)
        if not isinstance(result, (tuple, list)):
            return _into(out, result.clone())
        if out is None:
            return tuple(part.clone() for part in result)
        for target, part in zip(out, result):
            C.clone(part, out=target)
        return None

    function.__name__ = function.__qualname__ = name + "_copy"
    function.__doc__ = f"{name} as a copy."
    return function


def alias_copy(input, *, out=None):
    return C.clone(input, out=out)


for _name in (
    "as_strided", "detach", "diagonal", "expand", "permute", "select", "split",
    "split_with_sizes", "squeeze", "t", "transpose", "unbind", "unfold", "unsqueeze", "view",
    "view_as_complex", "view_as_real",
):  # fmt: skip
    globals()[_name + "_copy"] = _copying(_name)


def slice_copy(input, dim=0, start=None, end=None, step=1, *, out=None):
    """A copy of every step-th index of dim from start to end."""
    input.size(dim)  # refuses what is no dimension
    index = [slice(None)] * input.dim()
    index[dim] = slice(start, end, step)
    return _into(out, input[tuple(index)].clone())


def narrow_copy(input, dim, start, length, *, out=None):
    """narrow as a copy, which refuses with sentences of its own."""
    if dim >= input.dim() > 0:
        raise RuntimeError(
            "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could this error message "
            "be improved?  If so, please report an enhancement request to PyTorch.)"
        )
    if isinstance(length, int) and length < 0:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({input.shape[dim]}).")
    return _into(out, C.narrow(input, dim, start, length).clone())


def unsafe_split(input, split_size, dim=0):
    return C.split(input, split_size, dim)


def unsafe_split_with_sizes(input, split_sizes, dim=0):
    return C.split(input, split_sizes, dim)


def cond(pred, true_fn, false_fn, operands=()):
    """true_fn(*operands) or false_fn(*operands), by a bool or a tensor of one element."""
    if not isinstance(pred, (bool, C.Tensor)):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, C.Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, (tuple, list)):
        raise RuntimeError(f"Expect operands to be a tuple of possibly nested dict/list/tuple of tensors, but got {operands}.")
    return true_fn(*operands) if pred else false_fn(*operands)


def as_strided_(input, size, stride, storage_offset=None):
    """The tensor itself, from now on with these sizes and strides over its memory."""
    return input.set_(input.as_strided(size, stride, storage_offset))


def polygamma_(input, n):
    result = C.polygamma(n, input)
    if not C.can_cast(result.dtype, input.dtype):
        raise RuntimeError(f"result type {scalar_type(result)} can't be cast to the desired output type {scalar_type(input)}")
    return input.copy_(result)


def unsafe_chunk(input, chunks, dim=0):
    return C.chunk(input, chunks, dim)
