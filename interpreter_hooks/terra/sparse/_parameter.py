"""Sparse tensors that a module counts as its own: Parameter of a sparse tensor."""

import functools

import _terra_C as C


@functools.cache
def _class_for(kind):
    """Parameters that are sparse tensors of that class."""

    def text(self, *, tensor_contents=None):
        return "Parameter containing:\n" + kind.__repr__(self)

    def copied(self, memo):
        if id(self) not in memo:
            memo[id(self)] = parameter(self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def reduced(self, protocol):
        return parameter, (self.detach(), self.requires_grad)

    methods = {"__repr__": text, "__str__": text, "__deepcopy__": copied, "__reduce_ex__": reduced}
    return type("Parameter", (kind, C.Parameter), {**methods, "__module__": C.Parameter.__module__})


def parameter(data, requires_grad=True):
    """A leaf of its own over the values of a sparse tensor."""
    made = data.detach()
    if not isinstance(made, C.Parameter):
        made.__class__ = _class_for(type(made))
    return made.requires_grad_(bool(requires_grad))
