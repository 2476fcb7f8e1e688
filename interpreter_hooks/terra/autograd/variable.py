"""Variable: the old name of a tensor with gradients."""

import _terra_C as C


class _VariableMeta(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, C.Tensor)


class Variable(metaclass=_VariableMeta):
    """Variable(tensor, requires_grad=False) is a leaf that shares the memory of the tensor."""

    def __new__(cls, data, requires_grad=False, volatile=False):
        leaf = data.detach()
        return leaf.requires_grad_() if requires_grad else leaf
