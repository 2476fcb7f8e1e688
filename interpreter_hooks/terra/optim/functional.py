"""Optimizers as functions of lists: of parameters, their gradients and their state, which they change."""

from .adam import Adam
from .sgd import SGD

__all__ = ["adam", "adamw", "sgd"]


def sgd(
    params, d_p_list, momentum_buffer_list, has_sparse_grad=False, foreach=None, fused=None, grad_scale=None, found_inf=None, *,
    weight_decay, momentum, lr, dampening, nesterov, maximize,
):  # fmt: skip
    """A buffer that is None is made, from the gradient, and put into the list."""
    group = dict(
        lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov, maximize=maximize
    )
    for i, p in enumerate(params):
        buffers = []
        first = momentum != 0 and momentum_buffer_list[i] is None
        if first:
            momentum_buffer_list[i] = p.detach().new_zeros(p.shape)
        if momentum != 0:
            buffers.append(momentum_buffer_list[i])
        SGD._update(None, group, [p], [d_p_list[i]], buffers, first)


def adam(
    params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, foreach=None, capturable=False, differentiable=False,
    fused=None, grad_scale=None, found_inf=None, has_complex=False, decoupled_weight_decay=False, *, amsgrad, beta1, beta2, lr,
    weight_decay, eps, maximize,
):  # fmt: skip
    """state_steps are tensors that count."""
    group = dict(
        lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=weight_decay, maximize=maximize,
        decoupled_weight_decay=decoupled_weight_decay,
    )  # fmt: skip
    for i, p in enumerate(params):
        state_steps[i] += 1
        step = state_steps[i].item()
        if amsgrad:
            state = dict(step=step, exp_avg=exp_avgs[i], exp_avg_sq=exp_avg_sqs[i], max_exp_avg_sq=max_exp_avg_sqs[i])
            Adam._update_amsgrad(None, group, p, grads[i], state)
        else:
            Adam._update(None, group, [p], [grads[i]], [exp_avgs[i]], [exp_avg_sqs[i]], int(step))


def adamw(*args, **kwargs):
    """adam() with the decay of weights apart from the gradient."""
    adam(*args, **kwargs, decoupled_weight_decay=True)
