"""Derivatives of functions of tensors: products of vectors with Jacobians and Hessians, and these themselves."""

import _terra_C as C

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _tuple(value, name, function):
    """(a tuple of tensors, whether it was one)"""
    many = isinstance(value, tuple)
    found = value if many else (value,)
    for i, item in enumerate(found):
        if not isinstance(item, C.Tensor):
            what = f"value at index {i}" if many else f"given {name}"
            raise TypeError(
                f"The {name} given to {function} must be either a Tensor or a tuple of Tensors but the {what} has type "
                f"{type(item)}."
            )
    return found, many


def _inputs(value, function, create_graph):
    """The inputs as places where gradients end, or with their history where a graph is asked for."""
    found, many = _tuple(value, "inputs", function)
    fresh = [x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in found]
    return tuple(fresh), many


def _vectors(v, like, many, function, what):
    """The vectors, or ones where there is one number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if the {what}")
        return (C.ones_like(like[0]),)
    found, is_many = _tuple(v, "v", function)
    if len(found) != len(like):
        raise RuntimeError(f"The given v to {function} should have {len(like)} tensors, but it has {len(found)}")
    for i, (a, b) in enumerate(zip(found, like)):
        if a.shape != b.shape:
            where = f"Entry {i} in " if is_many else ""
            raise RuntimeError(f"{where}v has invalid size: should be {b.shape} but got {a.shape}.")
    return found


def _called(func, inputs, function, strict):
    """(the outputs of func as a tuple, whether it gave one)"""
    with C.enable_grad():
        outputs, many = _tuple(func(*inputs), "outputs of the user-provided function", function)
    for i, output in enumerate(outputs):
        if strict and not output.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
                "differentiable manner from the input when running in strict mode."
            )
    return outputs, many


def _gradients(outputs, inputs, weights, create_graph, function, strict):
    """Of the sum of outputs times weights, zeros where nothing depends on an input."""
    pairs = [(o, w) for o, w in zip(outputs, weights) if o.requires_grad]
    found = [None] * len(inputs)
    if pairs:
        found = C.grad(
            [o for o, _ in pairs], inputs, [w for _, w in pairs], retain_graph=True, create_graph=create_graph, allow_unused=True
        )
    for i, gradient in enumerate(found):
        if strict and gradient is None:
            raise RuntimeError(
                f"The output of the user-provided function is independent of input {i}. This is not allowed in strict mode."
            )
    return tuple(C.zeros_like(x) if g is None else g for g, x in zip(found, inputs))


def _shown(tensors, many, keep):
    tensors = tuple(tensors) if keep else tuple(t.detach() for t in tensors)
    return tensors if many else tensors[0]


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v times its Jacobian)."""
    inputs, many = _inputs(inputs, "vjp", create_graph)
    outputs, many_outputs = _called(func, inputs, "vjp", strict)
    v = _vectors(v, outputs, many_outputs, "vjp", "user-provided function returns a single Tensor with a single element.")
    with C.set_grad_enabled(create_graph or C.is_grad_enabled()):
        found = _gradients(outputs, inputs, v, create_graph, "vjp", strict)
    return _shown(outputs, many_outputs, create_graph), _shown(found, many, create_graph)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), its Jacobian times v), by differentiating the vjp for its vector."""
    inputs, many = _inputs(inputs, "jvp", create_graph)
    v = _vectors(v, inputs, many, "jvp", "input to the user-provided function is a single Tensor with a single element.")
    outputs, many_outputs = _called(func, inputs, "jvp", strict)
    with C.enable_grad():
        weights = tuple(C.zeros_like(o).requires_grad_() for o in outputs)
        found = _gradients(outputs, inputs, weights, True, "jvp", strict)
        along = _gradients(found, weights, v, create_graph, "jvp", False)
    return _shown(outputs, many_outputs, create_graph), _shown(along, many_outputs, create_graph)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """d output / d input, of shape output.shape + input.shape: a tuple for each output of one for each input."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than '
            'inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    inputs, many = _inputs(inputs, "jacobian", create_graph)
    outputs, many_outputs = _called(func, inputs, "jacobian", strict)
    blocks = []
    for output in outputs:
        rows = [[] for _ in inputs]
        with C.enable_grad():
            for value in output.reshape(-1):
                found = _gradients([value], inputs, [C.ones_like(value)], create_graph, "jacobian", strict)
                for row, gradient in zip(rows, found):
                    row.append(gradient)
            block = [
                C.stack(row).view(*output.shape, *x.shape) if row else C.zeros(*output.shape, *x.shape, dtype=x.dtype)
                for row, x in zip(rows, inputs)
            ]
        blocks.append(_shown(block, many, create_graph))
    return tuple(blocks) if many_outputs else blocks[0]


def _one_number(func, function):
    """The function, held to giving a tensor with one element."""

    def checked(*inputs):
        output = func(*inputs)
        if not isinstance(output, C.Tensor):
            raise RuntimeError(f"The function given to {function} should return a single Tensor")
        if output.dim() > 1 or output.numel() != 1:
            raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")
        return output.squeeze()

    return checked


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """Second derivatives of a function with one output: a tuple for each input of one for each input."""
    _, many = _tuple(inputs, "inputs", "hessian")
    checked = _one_number(func, "hessian")

    def gradient(*values):
        found = jacobian(checked, values, create_graph=True)
        return found if many else found[0]

    return jacobian(gradient, inputs, create_graph=create_graph, strict=strict)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), v times its Hessian)."""
    given, many = _inputs(inputs, "vhp", create_graph)
    v = _vectors(v, given, many, "vhp", "input to the user-provided function is a single Tensor with a single element.")
    with C.enable_grad():
        outputs, _ = _called(_one_number(func, "vhp"), given, "vhp", strict)
        first = _gradients(outputs, given, [C.ones_like(outputs[0])], True, "vhp", strict)
        found = _gradients(first, given, v, create_graph, "vhp", strict)
    return _shown(outputs, False, create_graph), _shown(found, many, create_graph)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), its Hessian times v): the same as vhp for functions that are twice differentiable."""
    given, many = _inputs(inputs, "hvp", create_graph)
    v = _vectors(v, given, many, "hvp", "input to the user-provided function is a single Tensor with a single element.")
    with C.enable_grad():
        outputs, _ = _called(_one_number(func, "hvp"), given, "hvp", strict)
        first = _gradients(outputs, given, [C.ones_like(outputs[0])], True, "hvp", strict)
        weights = tuple(C.zeros_like(x).requires_grad_() for x in given)
        second = _gradients(first, given, weights, True, "hvp", strict)
        found = _gradients(second, weights, v, create_graph, "hvp", False)
    return _shown(outputs, False, create_graph), _shown(found, many, create_graph)
