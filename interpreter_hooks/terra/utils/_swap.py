"""swap_tensors: two tensors trade everything but their identity."""

import copyreg

import _terra_C as C


def _swap_attribute(a, b, name):
    kept = getattr(a, name)
    setattr(a, name, getattr(b, name))
    setattr(b, name, kept)


def swap_tensors(t1, t2):
    """Each becomes what the other was: memory, gradient, class and attributes. Neither may be a result of recorded ops."""
    for name, tensor in (("t1", t1), ("t2", t2)):
        if not tensor.is_leaf:
            raise RuntimeError(f"Cannot swap {name}: it is the result of an operation that gradients flow through")
    if set(copyreg._slotnames(type(t1))) != set(copyreg._slotnames(type(t2))):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    first, second = ((t.detach(), t.requires_grad, t.grad) for t in (t1, t2))
    if type(t1) is not type(t2):
        _swap_attribute(t1, t2, "__class__")
    _swap_attribute(t1, t2, "__dict__")
    with C.no_grad():
        for tensor, (data, requires_grad, gradient) in ((t1, second), (t2, first)):
            tensor.grad = None
            tensor.requires_grad_(False)
            tensor.data = data
            tensor.requires_grad_(requires_grad)
            tensor.grad = gradient
