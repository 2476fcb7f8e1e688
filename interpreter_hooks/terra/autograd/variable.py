"""Variable: the old name of a tensor with gradients."""

import warnings

import _terra_C as C


class VariableMeta(type):
    def __call__(cls, data=None, requires_grad=False, volatile=False):
        if volatile:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", stacklevel=2
            )
        if data is None:
            data = C.tensor([])
        if not isinstance(data, C.Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        leaf = data.detach()
        if type(leaf) is not C.Tensor:
            leaf = leaf.as_subclass(C.Tensor)
        if not requires_grad:
            return leaf
        if not (leaf.is_floating_point() or leaf.is_complex()):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        return leaf.requires_grad_()

    def __instancecheck__(cls, instance):
        return isinstance(instance, C.Tensor)


class Variable(metaclass=VariableMeta):
    """Variable(tensor, requires_grad=False) is a leaf that shares the memory of the tensor."""
