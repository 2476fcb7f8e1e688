"""Helpers of PyTorch's torch.optim.optimizer that optimizers copied from its code import."""

import functools

import _terra_C as C

_params_doc = """params (iterable): tensors, pairs of a name and a tensor, or dicts of groups"""
_maximize_doc = """maximize (bool, optional): climb instead of going down (default: False)"""
_foreach_doc = """foreach (bool, optional): taken, and of no effect: parameters are updated together where that is possible"""
_fused_doc = """fused (bool, optional): taken, and of no effect: parameters are updated together where that is possible"""
_capturable_doc = """capturable (bool, optional): taken, and of no effect"""
_differentiable_doc = """differentiable (bool, optional): whether gradients flow through step() (default: False)"""


def _use_grad_for_differentiable(step):
    """A step with gradients switched on only where the optimizer is to be differentiated."""

    @functools.wraps(step)
    def function(*args, **kwargs):
        before = C.is_grad_enabled()
        try:
            C.set_grad_enabled(args[0].defaults["differentiable"])
            return step(*args, **kwargs)
        finally:
            C.set_grad_enabled(before)

    return function


def _disable_dynamo_if_unsupported(single_tensor_fn=None):
    """A mark for a compiler."""
    return lambda function: function


def _get_value(x):
    return x.item() if isinstance(x, C.Tensor) else x


_to_scalar = _get_value


def _stack_if_compiling(x):
    return x


def _get_scalar_dtype(is_fused=None):
    """What step counters are."""
    if is_fused:
        return C.float32
    return C.float64 if C.get_default_dtype() == C.float64 else C.float32


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """(fused, foreach): which of PyTorch's ways to update it would take; on a CPU neither."""
    return False, False


def _device_dtype_check_for_fused(p, cuda_unsupported=False):
    if not p.is_floating_point():
        raise RuntimeError(f"`fused=True` requires all the params to be floating point Tensors, but torch.{str(p.dtype)[6:]} is given")


def _get_capturable_supported_devices(supports_xla=True):
    """Devices whose steps a graph of CUDA could hold."""
    return []


def _view_as_real(params, *state_and_grads):
    """Complex parameters, and what belongs to them, as pairs of real numbers: changed in the lists."""
    for i, p in enumerate(params):
        if p.is_complex():
            params[i] = C.view_as_real(p)
            for tensors in state_and_grads:
                tensors[i] = C.view_as_real(tensors[i])
