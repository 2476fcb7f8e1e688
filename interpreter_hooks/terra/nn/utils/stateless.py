"""The old place of functional_call."""

from ...func import functional_call as _call


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    return _call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
