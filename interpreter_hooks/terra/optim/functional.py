"""Optimizers as functions of lists: of parameters, their gradients and their state, which they change."""

import importlib

import _terra_C as C

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


# ---- the others ------------------------------------------------------------------------------------------------------
# {function: (module and class, {list of tensors: name in the state of a parameter}, options in pairs, options by position)}
_OTHERS = {
    "adadelta": ("adadelta.Adadelta", {"square_avgs": "square_avg", "acc_deltas": "acc_delta"}, {}, ()),
    "adagrad": ("adagrad.Adagrad", {"state_sums": "sum"}, {}, ("fused", "grad_scale", "found_inf", "has_sparse_grad")),
    "adamax": ("adamax.Adamax", {"exp_avgs": "exp_avg", "exp_infs": "exp_inf"}, {"betas": ("beta1", "beta2")}, ("foreach", "maximize")),
    "asgd": ("asgd.ASGD", {"axs": "ax", "mus": "mu", "etas": "eta"}, {}, ("foreach", "maximize")),
    "nadam": (
        "nadam.NAdam", {"exp_avgs": "exp_avg", "exp_avg_sqs": "exp_avg_sq", "mu_products": "mu_product"}, {"betas": ("beta1", "beta2")},
        ("decoupled_weight_decay",),
    ),
    "radam": (
        "radam.RAdam", {"exp_avgs": "exp_avg", "exp_avg_sqs": "exp_avg_sq"}, {"betas": ("beta1", "beta2")}, ("decoupled_weight_decay",),
    ),
    "rmsprop": (
        "rmsprop.RMSprop", {"square_avgs": "square_avg", "grad_avgs": "grad_avg", "momentum_buffer_list": "momentum_buffer"}, {},
        ("foreach", "maximize"),
    ),
    "rprop": (
        "rprop.Rprop", {"prevs": "prev", "step_sizes": "step_size"},
        {"etas": ("etaminus", "etaplus"), "step_sizes": ("step_size_min", "step_size_max")}, ("foreach", "maximize"),
    ),
    "sparse_adam": ("sparse_adam.SparseAdam", {"exp_avgs": "exp_avg", "exp_avg_sqs": "exp_avg_sq"}, {"betas": ("beta1", "beta2")}, ()),
}  # fmt: skip


def _other(name):
    place, lists, pairs, by_position = _OTHERS[name]
    module, _, class_name = place.partition(".")

    def function(params, grads, *given, **options):
        kind = getattr(importlib.import_module("." + module, __package__), class_name)
        names = [*lists, "state_steps", *by_position]
        options = dict(zip(names, given)) | options
        group = {"maximize": False, "decoupled_weight_decay": False}
        group |= {key: tuple(options.pop(end) for end in ends) for key, ends in pairs.items()}
        kept = {key: options.pop(tensors) for tensors, key in lists.items() if tensors in options}
        steps = options.pop("state_steps")
        group |= options
        numbers = set(getattr(kind, "_numbers", ()))
        for i, p in enumerate(params):
            _step(kind, group, p, grads[i], {key: tensors[i] for key, tensors in kept.items() if i < len(tensors)}, steps, i, numbers)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"One step of {class_name}: lists of parameters and gradients, {', '.join(lists)}, and tensors that count."
    return function


def _step(kind, group, p, grad, state, steps, i, numbers):
    """A parameter's step with the state in tensors, of which the class has some as numbers."""
    count = steps[i]
    tensors = {name: state[name] for name in numbers & set(state)}
    own = state | {name: tensor.item() for name, tensor in tensors.items()}
    if "step" in numbers:
        count += 1
        own["step"] = int(count)
        grad = -grad if group["maximize"] else grad
    else:  # the class counts; numbers have been counted
        own["step"] = count if isinstance(count, C.Tensor) else count - 1
    kind._update(None, group, p, grad, own)
    for name, tensor in tensors.items():
        tensor.fill_(own[name])


globals().update({name: _other(name) for name in _OTHERS})
__all__ += list(_OTHERS)
