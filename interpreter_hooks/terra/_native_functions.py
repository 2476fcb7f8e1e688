"""Functions of the top level that are called with the arguments of PyTorch's kernels, and give what those give; loaded
when one of them is first used."""

import _terra_C as C

from .nn import functional as F
from .nn.functional.embedding import _bag_of_each, _renormalize

BAG_MODES = ("sum", "mean", "max")


def embedding_bag(
    weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, per_sample_weights=None,
    include_last_offset=False, padding_idx=None,
):  # fmt: skip
    """The bags, the bag of each index, the sizes of the bags, and which rows are the largest ones. (Sums need no sizes
    and mostly not the bag of each index: zeros, and nothing.)"""
    output = F.embedding_bag(
        indices, weight, offsets, None, 2.0, scale_grad_by_freq, BAG_MODES[mode], sparse, per_sample_weights,
        include_last_offset, padding_idx,
    )  # fmt: skip
    bags, bag = _bag_of_each(offsets, indices.size(0), include_last_offset)
    if mode == 0:
        plain = weight.dtype != C.float64 and padding_idx is None
        return output, bag[:0] if plain else bag, offsets.new_zeros(bags), offsets.new_zeros(bags)
    counted = C.ones_like(bag) if padding_idx is None else (indices != padding_idx % weight.size(0)).to(C.int64)
    sizes = C.zeros(bags, dtype=C.int64).index_add(0, bag, counted)[: output.size(0)]
    if mode == 1:
        return output, bag, sizes, sizes
    largest = C.zeros(output.shape, dtype=C.int64)
    for i in range(output.size(0)):
        members = indices[(bag == i) & (counted > 0)]
        if members.numel() > 0:
            largest[i] = members[weight.detach()[members].max(0)[1]]
    return output, bag, sizes, largest


def embedding_renorm_(weight, indices, max_norm, norm_type):
    """Scales the rows that indices name so that none is longer than max_norm."""
    _renormalize(weight, indices, max_norm, norm_type)
    return weight


def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, *, out=None):
    """batch_norm with the means and the inverse deviations that it divides by, where it finds them."""
    output = F.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if training:
        values = input.detach().transpose(0, 1).flatten(1)
        results = output, values.mean(1), C.rsqrt(values.var(1, correction=0) + eps)
    else:
        results = output, input.new_empty(0), input.new_empty(0)
    return results if out is None else tuple(C.clone(each, out=into) for each, into in zip(results, out))


def _native_batch_norm_legit(input, weight, bias, *rest, out=None):
    """native_batch_norm; the running statistics may be left out."""
    if len(rest) == 3:
        rest = (None, None, *rest)
    return native_batch_norm(input, weight, bias, *rest, out=out)


def _within(indices, shape):
    """Indices brought back into a tensor of that shape."""
    return [None if i is None else i.clamp(-size, size - 1) for i, size in zip(indices, shape)]


def _unsafe_masked_index(self, mask, indices, fill):
    """The elements that indices name, `fill` where the mask is False: what stands there as an index counts for nothing."""
    return C._ops.advanced_index(self, _within(indices, self.shape)).masked_fill(mask.logical_not(), fill)


def _unsafe_masked_index_put_accumulate(self, mask, indices, values):
    """self with the values added where indices name its elements and the mask is True."""
    return self.index_put(_within(indices, self.shape), values.masked_fill(mask.logical_not(), 0), accumulate=True)


def _of_one_node(result, *operands):
    """The result, which requires grad where one of the operands does: as functions of them it has slope 0."""
    for operand in operands:
        if operand is not None and operand.requires_grad:
            result = C.where(C.ones((), dtype=C.bool), result, operand.sum())
    return result


def native_group_norm(input, weight, bias, N, C_, HxW, group, eps):
    """group_norm with the means and the inverse deviations of each group."""
    values = input.reshape(N, group, C_ // group * HxW)
    output = F.group_norm(input.reshape(N, C_, HxW), group, weight, bias, eps).reshape(input.shape)
    mean, inverse = values.mean(2), C.rsqrt(values.var(2, correction=0) + eps)
    return output, _of_one_node(mean, weight, bias), _of_one_node(inverse, weight, bias)


def native_dropout(input, p, train):
    """dropout with the mask of what is kept."""
    if train is False or p == 0:
        return input.clone(), C.ones_like(input, dtype=C.bool)
    kept = F.dropout(C.ones_like(input), p) != 0
    return input * kept * (0.0 if p == 1 else 1 / (1 - p)), kept


def convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    """A convolution over as many dimensions as `input` has besides batch and channels."""
    n = input.dim() - 2
    if transposed:
        function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[n - 1]
        return function(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return (F.conv1d, F.conv2d, F.conv3d)[n - 1](input, weight, bias, stride, padding, dilation, groups)


def _chunk_cat(tensors, dim, num_chunks, *, out=None):
    """Each tensor in num_chunks equal parts along dim, the last filled up with zeros; the parts of all side by side."""
    if len(tensors) == 0:
        raise RuntimeError("_chunk_cat expects a non-empty input tensor list")
    if num_chunks < 1:
        raise RuntimeError("_chunk_cat expects positive num_chunks")
    rank = tensors[0].dim()
    if not -rank <= dim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    if dim < 0 and any(t.dim() != rank for t in tensors):
        raise RuntimeError("_chunk_cat expects non-negative dim when input tensors have different ndims")
    parts, dim = [], dim + rank if dim < 0 else dim
    for t in tensors:
        if t.numel() == 0:
            raise RuntimeError("_chunk_cat expects non-empty tensor")
        if t.dtype != tensors[0].dtype:
            raise RuntimeError("_chunk_cat expects all input tensors with the same dtype")
        if dim >= t.dim():
            raise RuntimeError("_chunk_cat expects dim < ndim for all input tensors")
        if t.shape[:dim] != tensors[0].shape[:dim]:
            raise RuntimeError("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors")
        missing = -t.size(dim) % num_chunks
        if missing:
            shape = list(t.shape)
            shape[dim] = missing
            t = C.cat([t, t.new_zeros(shape)], dim)
        parts.append(t.reshape(*t.shape[:dim], num_chunks, -1))
    result = C.cat(parts, dim + 1)
    return result if out is None else C.clone(result, out=out)


def _softmax(self, dim, half_to_float):
    return C.softmax(self, dim, dtype=C.float32 if half_to_float else None)


def _log_softmax(self, dim, half_to_float):
    return C.log_softmax(self, dim, dtype=C.float32 if half_to_float else None)


def _softmax_backward_data(grad_output, output, dim, input_dtype):
    """The gradient of what softmax made `output` of."""
    products = grad_output * output
    return products - output * products.sum(dim, keepdim=True)


def _log_softmax_backward_data(grad_output, output, dim, input_dtype):
    return grad_output - output.exp() * grad_output.sum(dim, keepdim=True)


def _cast(name, dtype):
    def function(self, non_blocking=False):
        return self.to(dtype, non_blocking=non_blocking)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The tensor in {dtype}."
    return function


_cast_Byte, _cast_Char = _cast("_cast_Byte", C.uint8), _cast("_cast_Char", C.int8)
_cast_Short, _cast_Int, _cast_Long = _cast("_cast_Short", C.int16), _cast("_cast_Int", C.int32), _cast("_cast_Long", C.int64)
_cast_Half, _cast_Float, _cast_Double = _cast("_cast_Half", C.float16), _cast("_cast_Float", C.float32), _cast("_cast_Double", C.float64)


def _weight_norm(v, g, dim=0):
    """A weight of direction v whose parts along `dim` have the lengths g."""
    from .nn.utils.weight_norm import normed

    return normed(v, g, dim)


def _shape_as_tensor(self):
    return C.tensor(self.shape)


def _dim_arange(like, dim):
    return C.arange(like.size(dim))


def _unique2(self, sorted=True, return_inverse=False, return_counts=False):
    """The distinct elements, for each element which one it is, and how often each occurs: empty where not asked for."""
    values, inverse, counts = C.unique(self, sorted, return_inverse=True, return_counts=True)
    return values, inverse if return_inverse else inverse.new_empty(0), counts if return_counts else counts.new_empty(0)
