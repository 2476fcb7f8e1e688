"""The old place of functional_call."""

import warnings

from ...func import functional_call as _call
from ...func.stateless import replaced


def _reparametrize_module(module, parameters_and_buffers, tie_weights=False, strict=False, stack_weights=False):
    """A context in which the module has these tensors; what was there comes back in reverse order, asked for or not."""
    return replaced(module, parameters_and_buffers, tie_weights, strict)


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future version "
        "of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
