"""Modules as functions of their parameters and buffers."""

import copy

from ..func import functional_call, stack_module_state
from ..nn import Module


class FunctionalModule(Module):
    """function(params, *args): the module as it was, with other parameters."""

    def __init__(self, model, names):
        super().__init__()
        self.stateless_model, self.param_names = model, names

    def forward(self, params, *args, **kwargs):
        return functional_call(self.stateless_model, dict(zip(self.param_names, params)), args, kwargs)


class FunctionalModuleWithBuffers(FunctionalModule):
    """function(params, buffers, *args)"""

    def __init__(self, model, names, buffer_names):
        super().__init__(model, names)
        self.buffer_names = buffer_names

    def forward(self, params, buffers, *args, **kwargs):
        state = dict(zip(self.param_names, params)) | dict(zip(self.buffer_names, buffers))
        return functional_call(self.stateless_model, state, args, kwargs)


def _parts(model, disable_autograd_tracking):
    """A copy of the model without history, the names and copies of its parameters, and those of its buffers."""
    model = copy.deepcopy(model)
    names, params = zip(*model.named_parameters()) if any(True for _ in model.parameters()) else ((), ())
    buffer_names, buffers = zip(*model.named_buffers()) if any(True for _ in model.buffers()) else ((), ())
    params = tuple(p.detach().clone().requires_grad_(p.requires_grad and not disable_autograd_tracking) for p in params)
    for p in model.parameters():
        p.requires_grad_(False)
    return model, names, params, buffer_names, tuple(b.detach().clone() for b in buffers)


def make_functional(model, disable_autograd_tracking=False):
    """(function, params): function(params, *args) is what model(*args) is. A model with buffers needs the other one."""
    if any(True for _ in model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    model, names, params, _, _ = _parts(model, disable_autograd_tracking)
    return FunctionalModule(model, names), params


def make_functional_with_buffers(model, disable_autograd_tracking=False):
    """(function, params, buffers): function(params, buffers, *args) is what model(*args) is."""
    model, names, params, buffer_names, buffers = _parts(model, disable_autograd_tracking)
    return FunctionalModuleWithBuffers(model, names, buffer_names), params, buffers


def combine_state_for_ensemble(models):
    """(function, params, buffers) of models of one kind: each parameter has a first dimension more, for vmap."""
    if len(models) == 0:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to have the same training/eval mode.")
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    function, _, _ = make_functional_with_buffers(models[0])
    params, buffers = stack_module_state(models)
    return function, tuple(params.values()), tuple(buffers.values())
