"""Rows of a table whose gradient is as large as the rows that were looked up, not as the table."""

import _terra_C as C

from ...autograd import Function
from ...sparse._tensor import coo


class SparseRows(Function):
    """embedding() with a sparse gradient: one entry for each index, in their order."""

    @staticmethod
    def forward(ctx, weight, indices, padding_idx, scale_by_frequency):
        ctx.save_for_backward(indices)
        ctx.padding_idx, ctx.scale_by_frequency = padding_idx, scale_by_frequency
        ctx.size = weight.shape
        return C._ops.embedding(weight, indices, None)

    @staticmethod
    def backward(ctx, grad):
        (indices,) = ctx.saved_tensors
        places = indices.reshape(-1).to(C.int64)
        values = grad.reshape(-1, ctx.size[1])
        if ctx.scale_by_frequency:
            raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
        if ctx.padding_idx is None:
            values = values.clone()  # .grad has memory of its own
        else:
            kept = (places != ctx.padding_idx).nonzero().squeeze(1)
            places, values = places.index_select(0, kept), values.index_select(0, kept)
        return coo(places.unsqueeze(0), values, ctx.size), None, None, None
