"""Full backward hooks: a module's gradients seen at an identity node in front of its inputs and one behind its outputs."""

import _terra_C as C

from ...autograd.function import Function


class Seen:
    """Gradients of one call of one module, as they arrive."""

    def __init__(self):
        self.grad_output = None


def _map_tensors(value, function):
    """`value` with function(tensor) for each tensor that requires grad, in the tuples, lists and dicts around it."""
    if isinstance(value, C.Tensor):
        return function(value) if value.requires_grad else value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_map_tensors(v, function) for v in value))
    if isinstance(value, (tuple, list)):
        return type(value)(_map_tensors(v, function) for v in value)
    if isinstance(value, dict):
        return type(value)((k, _map_tensors(v, function)) for k, v in value.items())
    return value


class BackwardHookFunction(Function):
    """Views of tensors; their gradients pass through a function, which gives the tuple to go on with."""

    @staticmethod
    def forward(ctx, on_gradients, *inputs):
        ctx.on_gradients = on_gradients
        return tuple([t.view_as(t) for t in inputs])

    @staticmethod
    def backward(ctx, *gradients):
        return (None, *ctx.on_gradients(gradients))


def _through_identity(value, on_gradients):
    """`value` with its tensors replaced by views of themselves; on_gradients gets the tuple of their gradients in
    backward. False: there was nothing to replace."""
    tensors = []
    _map_tensors(value, lambda t: tensors.append(t) or t)
    if not tensors or not C.is_grad_enabled():
        return value, False
    replaced = iter(BackwardHookFunction.apply(on_gradients, *tensors))
    return _map_tensors(value, lambda t: next(replaced)), True


def _as_tuple(gradients):
    return gradients if isinstance(gradients, tuple) else (gradients,)


def observe_inputs(module, args, hooks):
    seen = Seen()

    def on_gradients(gradients):
        for hook in hooks:
            changed = hook(module, gradients, seen.grad_output)
            if changed is not None:
                changed = _as_tuple(changed)
                if len(changed) != len(gradients):
                    raise RuntimeError(
                        f"Backward hook returned an invalid number of grad_input, got {len(changed)}, but expected "
                        f"{len(gradients)}"
                    )
                gradients = changed
        return gradients

    args, observed = _through_identity(args, on_gradients)
    seen.without_inputs = None if observed else on_gradients
    return args, seen


def observe_outputs(module, result, pre_hooks, seen):
    """Where no input requires grad, the hooks run here, with None for the gradient of each input."""

    def on_gradients(gradients):
        for hook in pre_hooks:
            changed = hook(module, gradients)
            if changed is not None:
                gradients = _as_tuple(changed)
        seen.grad_output = gradients
        if seen.without_inputs is not None:
            seen.without_inputs((None,))
        return gradients

    return _through_identity(result, on_gradients)[0]
