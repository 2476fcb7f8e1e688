"""PyTorch's ops that no function of the program is named for, written in functions of torch: what torch.ops.aten computes with."""

import _terra_C as C

from .._missing_parts import sentences
from ..autograd import grad
from ..nn import functional as F

_REDUCTIONS = ("none", "mean", "sum")


def _gradients(function, operands, g):
    """The gradients of operands of a function whose result has the gradient g."""
    with C.enable_grad():
        leaves = [operand.detach().requires_grad_() for operand in operands]
        return grad(function(*leaves), leaves, g)


def _of_masked(mask, function, operands, g):
    """(gradient, or None where the mask is False) of each operand; those that are None have none."""
    wanted = [i for i, operand in enumerate(operands) if mask[i] and operand is not None]

    def called(*leaves):
        given = list(operands)
        for i, leaf in zip(wanted, leaves):
            given[i] = leaf
        return function(*given)

    found = dict(zip(wanted, _gradients(called, [operands[i] for i in wanted], g) if wanted else ()))
    return tuple(found.get(i) for i in range(len(operands)))


def _slice(self, dim=0, start=None, end=None, step=1):
    return self[(slice(None),) * (dim % self.dim()) + (slice(start, end, step),)]


def index(self, indices):
    return self[tuple(slice(None) if i is None else i for i in indices)]


def _to_copy(self, *, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, memory_format=None):
    return self.to(dtype=self.dtype if dtype is None else dtype, copy=True)


def _unsafe_view(self, size):
    return self.detach().view(size)


def _local_scalar_dense(self):
    return self.item()


def select_backward(grad_output, input_sizes, dim, index):
    result = grad_output.new_zeros(input_sizes)
    result.select(dim, index).copy_(grad_output)
    return result


def slice_backward(grad_output, input_sizes, dim, start, end, step):
    result = grad_output.new_zeros(input_sizes)
    _slice(result, dim, start, end, step).copy_(grad_output)
    return result


# ---- layers ----------------------------------------------------------------------------------------------------------
def convolution_backward(
    grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask
):
    from .._native_functions import convolution

    rest = (stride, padding, dilation, transposed, output_padding, groups)
    bias = None if bias_sizes is None else grad_output.new_zeros(bias_sizes)
    return _of_masked(output_mask, lambda x, w, b: convolution(x, w, b, *rest), [input, weight, bias], grad_output)


def native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask):
    return _of_masked(
        output_mask,
        lambda x, w, b: F.layer_norm(x, normalized_shape, w, b, _eps(input, mean, rstd)),
        [input, weight, bias],
        grad_out,
    )


def _eps(input, mean, rstd):
    """What was added to the variances whose inverse deviations these are."""
    input, rstd = input.detach(), rstd.detach()
    dims = [d for d, (n, m) in enumerate(zip(input.shape, mean.shape)) if n != m]
    variance = input.double().var(dims, correction=0, keepdim=True) if dims else C.zeros_like(input, dtype=C.float64)
    return max(0.0, float((rstd.double() ** -2 - variance).median()))


def native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C_, HxW, group, output_mask):  # noqa: N803
    rows = input.reshape(N, group, -1)
    eps = _eps(rows, mean.reshape(N, group, 1), rstd.reshape(N, group, 1))
    bias = None if weight is None else C.zeros_like(weight)
    return _of_masked(output_mask, lambda x, w, b: F.group_norm(x, group, w, b, eps), [input, weight, bias], grad_out)


def native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask):
    bias = None if weight is None else C.zeros_like(weight)
    statistics = (None, None) if train else (running_mean, running_var)
    return _of_masked(
        output_mask, lambda x, w, b: F.batch_norm(x, *statistics, w, b, train, 0.0, eps), [input, weight, bias], grad_out
    )


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return F.embedding(indices, weight)


def embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq):
    return C._ops.embedding_backward(grad_output, indices, num_weights, padding_idx)


def im2col(self, kernel_size, dilation, padding, stride):
    return F.unfold(self, kernel_size, dilation, padding, stride)


def max_pool2d_with_indices(self, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    return F.max_pool2d(self, kernel_size, stride or None, padding, dilation, ceil_mode, return_indices=True)


def max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices):
    return C._ops.max_pool2d_backward(grad_output, indices, list(self.shape))


def avg_pool2d(self, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    return F.avg_pool2d(self, kernel_size, stride or None, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool2d_backward(grad_output, self, kernel_size, stride, *rest):
    return C._ops.avg_pool2d_backward(grad_output, list(self.shape), kernel_size, stride or None, *rest)


def _adaptive_avg_pool2d_backward(grad_output, self):
    return C._ops.adaptive_avg_pool2d_backward(grad_output, list(self.shape))


def upsample_nearest2d(self, output_size, scales_h=None, scales_w=None):
    return F.interpolate(self, tuple(output_size))


def upsample_bilinear2d(self, output_size, align_corners, scales_h=None, scales_w=None):
    return F.interpolate(self, tuple(output_size), mode="bilinear", align_corners=align_corners)


def _scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
    scores = query @ key.mT * (query.size(-1) ** -0.5 if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(C.ones(scores.shape[-2:], dtype=C.bool).tril().logical_not(), float("-inf"))
    if attn_mask is not None:
        scores = scores + attn_mask
    output = F.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale)
    return output, scores.logsumexp(-1)


def _scaled_dot_product_flash_attention_for_cpu_backward(
    grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, *, attn_mask=None, scale=None
):
    attend = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal, scale=scale)  # noqa: E731
    return _gradients(attend, [query, key, value], grad_out)


def _safe_softmax(self, dim, dtype=None):
    """softmax with zeros where there is nothing but -inf."""
    nothing = (self == float("-inf")).all(dim, keepdim=True)
    return C.softmax(self, dim, dtype).masked_fill(nothing, 0)


# ---- activations and losses ------------------------------------------------------------------------------------------
def _backward_of(function):
    """The gradient of a function of one tensor and of numbers."""

    def backward(grad_output, self, *numbers, **named):
        return _gradients(lambda x: function(x, *numbers, **named), [self], grad_output)[0]

    return backward


def leaky_relu_backward(grad_output, self, negative_slope, self_is_result):
    return C.where(self > 0, grad_output, grad_output * negative_slope)


def _loss(function):
    """A loss whose reduction is a number: 0 none, 1 mean, 2 sum."""

    def loss(self, target, reduction=1, *numbers):
        return function(self, target, *numbers, reduction=_REDUCTIONS[reduction])

    return loss


def mse_loss_backward(grad_output, self, target, reduction):
    return _gradients(lambda x: F.mse_loss(x, target, reduction=_REDUCTIONS[reduction]), [self], grad_output)[0]


def _huber_loss(self, target, delta=1.0, *, reduction):
    return F.huber_loss(self, target, delta=delta, reduction=reduction)


def _smooth_l1_loss(self, target, beta=1.0, *, reduction):
    return F.smooth_l1_loss(self, target, beta=beta, reduction=reduction)


def binary_cross_entropy(self, target, weight=None, reduction=1):
    return F.binary_cross_entropy(self, target, weight, reduction=_REDUCTIONS[reduction])


def binary_cross_entropy_with_logits(self, target, weight=None, pos_weight=None, reduction=1):
    return F.binary_cross_entropy_with_logits(self, target, weight, reduction=_REDUCTIONS[reduction], pos_weight=pos_weight)


def nll_loss_forward(self, target, weight, reduction, ignore_index):
    """The loss, and the sum of the weights that it was divided by: 0 where nothing is divided."""
    loss = F.nll_loss(self, target, weight, ignore_index=ignore_index, reduction=_REDUCTIONS[reduction])
    if reduction == 0:
        return loss, self.new_zeros(())
    counted = target != ignore_index
    total = (
        counted.sum().to(self.dtype) if weight is None else weight[target.masked_fill(~counted, 0)].masked_fill(~counted, 0).sum()
    )
    return loss, total


def nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight):
    rest = {"ignore_index": ignore_index, "reduction": _REDUCTIONS[reduction]}
    return _gradients(lambda x: F.nll_loss(x, target, weight, **rest), [self], grad_output)[0]


KERNELS = {
    "_adaptive_avg_pool2d": F.adaptive_avg_pool2d, "_pin_memory": lambda self, device=None: self.pin_memory(),
    "alias": lambda self: self.view_as(self), "elu_backward": _backward_of(F.elu), "gelu_backward": _backward_of(F.gelu),
    "hardtanh_backward": _backward_of(F.hardtanh), "huber_loss": _loss(_huber_loss), "lift_fresh": lambda self: self,
    "lift_fresh_copy": lambda self: self.clone(),
    "linalg_vector_norm": C._ops.linalg_vector_norm, "mse_loss": _loss(F.mse_loss), "nll_loss2d_backward": nll_loss_backward,
    "nll_loss2d_forward": nll_loss_forward, "repeat": C.Tensor.repeat, "sigmoid_backward": C._ops.sigmoid_backward,
    "silu_backward": _backward_of(F.silu),
    "slice": _slice, "smooth_l1_loss": _loss(_smooth_l1_loss), "softplus_backward": _backward_of(F.softplus),
    "tanh_backward": C._ops.tanh_backward,
    "threshold_backward": C._ops.threshold_backward, "unfold": C.Tensor.unfold,
    **{
        function.__name__: function
        for function in (
            _adaptive_avg_pool2d_backward, _local_scalar_dense, _safe_softmax, _scaled_dot_product_flash_attention_for_cpu,
            _scaled_dot_product_flash_attention_for_cpu_backward, _to_copy, _unsafe_view, avg_pool2d, avg_pool2d_backward,
            binary_cross_entropy, binary_cross_entropy_with_logits, convolution_backward, embedding, embedding_dense_backward,
            im2col, index, leaky_relu_backward, max_pool2d_with_indices, max_pool2d_with_indices_backward, mse_loss_backward,
            native_batch_norm_backward, native_group_norm_backward, native_layer_norm_backward, nll_loss_backward,
            nll_loss_forward, select_backward, slice_backward, upsample_bilinear2d, upsample_nearest2d,
        )
    },
    **sentences("torch.ops.aten", ("_sparse_addmm", "_sparse_mm_reduce_impl")),
}  # fmt: skip
