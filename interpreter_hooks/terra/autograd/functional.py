"""Derivatives of functions of tensors."""

import _terra_C as C

__all__ = ["hessian", "jacobian", "jvp", "vjp"]


def _tuple(value):
    return value if isinstance(value, tuple) else (value,)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """d output / d input, of shape output.shape + input.shape."""
    single = isinstance(inputs, C.Tensor)
    leaves = tuple(x if create_graph and x.requires_grad else x.detach().requires_grad_() for x in _tuple(inputs))
    with C.enable_grad():
        output = func(*leaves)
    results = [[] for _ in leaves]
    for value in output.reshape(-1):
        gradients = C.grad(value, leaves, retain_graph=True, create_graph=create_graph, allow_unused=True)
        for rows, gradient, x in zip(results, gradients, leaves):
            rows.append(C.zeros_like(x) if gradient is None else gradient)
    jacobians = tuple(
        C.stack(rows).view(*output.shape, *x.shape) for rows, x in zip(results, leaves)
    )
    return jacobians[0] if single else jacobians


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """Second derivatives of a function with one output."""

    def gradient(x):
        return jacobian(func, x, create_graph=True)

    return jacobian(gradient, inputs, create_graph=create_graph)


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), v^T times its Jacobian)."""
    single = isinstance(inputs, C.Tensor)
    leaves = tuple(x.detach().requires_grad_() for x in _tuple(inputs))
    with C.enable_grad():
        output = func(*leaves)
    gradients = C.grad(output, leaves, v, create_graph=create_graph, allow_unused=True)
    gradients = tuple(C.zeros_like(x) if g is None else g for g, x in zip(gradients, leaves))
    return output.detach(), gradients[0] if single else gradients


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(inputs), its Jacobian times v), by differentiating the vjp twice."""
    leaves = tuple(x.detach().requires_grad_() for x in _tuple(inputs))
    with C.enable_grad():
        output = func(*leaves)
        dummy = C.zeros_like(output).requires_grad_()
        gradients = C.grad(output, leaves, dummy, create_graph=True, allow_unused=True)
        used = [(g, d) for g, d in zip(gradients, _tuple(v)) if g is not None]
    (product,) = C.grad([g for g, _ in used], dummy, [d for _, d in used], create_graph=create_graph)
    return output.detach(), product
