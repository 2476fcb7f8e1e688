"""gradcheck: gradients against differences of the function."""

import warnings

import _terra_C as C


class GradcheckError(RuntimeError):
    pass


def _as_tuple(tensors):
    return (tensors,) if isinstance(tensors, C.Tensor) else tuple(tensors)


def _requires_grad(value):
    return isinstance(value, C.Tensor) and value.requires_grad


def _checked(inputs):
    inputs = _as_tuple(inputs)
    if not any(_requires_grad(x) for x in inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for i, x in enumerate(inputs):
        if _requires_grad(x) and x.dtype not in (C.float64, C.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will "
                "likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=3,
            )
    return inputs


def _differentiable(outputs):
    return [output for output in _as_tuple(outputs) if _requires_grad(output)]


def gradgradcheck(
    func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False,
    raise_exception=True, **_,
):  # fmt: skip
    """True when the gradients of func's gradients, with respect to its inputs and to what flows into the gradients, equal
    central differences. `grad_outputs`: where they are taken; drawn, if not given."""
    inputs = _checked(inputs)
    if grad_outputs is None:
        from ..testing import make_tensor

        options = {"low": -1, "high": 1, "requires_grad": True, "noncontiguous": gen_non_contig_grad_outputs}
        grad_outputs = [make_tensor(o.shape, dtype=o.dtype, **options) for o in _differentiable(func(*inputs))]
    grad_outputs = _as_tuple(grad_outputs)
    count = len(inputs)

    def gradients(*values):
        pairs = list(zip(_differentiable(func(*values[:count])), values[count:]))
        wanted = [x for x in values[:count] if _requires_grad(x)]
        if not pairs or not wanted:
            return ()
        found = C.grad([o for o, _ in pairs], wanted, [g for _, g in pairs], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(gradients, inputs + grad_outputs, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception)


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, **_):
    """True when the gradients of func at `inputs` (float64, complex128) equal central differences."""
    inputs = _checked(inputs)
    func, inputs = _in_parts(func, inputs)
    outputs = _as_tuple(func(*inputs))
    constant = not any(output.requires_grad for output in outputs)
    for o, output in enumerate(outputs):
        if not output.requires_grad and not constant:
            continue
        for i, x in enumerate(inputs):
            if isinstance(x, C.Tensor) and x.requires_grad:
                numerical = _numerical(func, inputs, i, o, eps)
                analytical = C.zeros_like(numerical) if constant else _analytical(output, x)
                if not ((analytical - numerical).abs() <= atol + rtol * numerical.abs()).all():
                    if not raise_exception:
                        return False
                    if constant:
                        raise GradcheckError("Numerical gradient for function expected to be zero")
                    raise GradcheckError(
                        f"Jacobian mismatch for output {o} with respect to input {i},\n"
                        f"numerical:{numerical}\nanalytical:{analytical}\n"
                    )
    return True


def _is_complex(value):
    return isinstance(value, C.Tensor) and value.is_complex()


def _in_parts(func, inputs):
    """The function and its inputs with pairs of real numbers for complex ones."""
    pairs = [_is_complex(x) for x in inputs]
    given = [C.view_as_real(x.detach()).requires_grad_(x.requires_grad) if pair else x for x, pair in zip(inputs, pairs)]

    def of_parts(*values):
        outputs = _as_tuple(func(*(C.view_as_complex(v) if pair else v for v, pair in zip(values, pairs))))
        return tuple(C.view_as_real(o) if _is_complex(o) else o for o in outputs)

    return of_parts, tuple(given)


def _analytical(output, x):
    """Jacobian [elements of x, elements of output]."""
    columns = []
    for k in range(output.numel()):
        direction = C.zeros_like(output).flatten()
        direction[k] = 1.0
        (gradient,) = C.grad(output, x, direction.view_as(output), retain_graph=True, allow_unused=True)
        columns.append(C.zeros_like(x).flatten() if gradient is None else gradient.flatten())
    return C.stack(columns, 1).detach()


def _numerical(func, inputs, i, o, eps):
    """Jacobian [elements of x, elements of output]. The function may take gradients of its own."""
    rows = []
    flat = inputs[i].detach().contiguous()
    for k in range(flat.numel()):
        ends = []
        for step in (eps, -eps):
            moved = flat.clone().view(-1)
            moved[k] += step
            moved = moved.view(flat.shape).requires_grad_()
            values = func(*inputs[:i], moved, *inputs[i + 1 :])
            values = _as_tuple(values)
            ends.append(values[o].detach().flatten().clone())
        rows.append((ends[0] - ends[1]) / (2 * eps))
    return C.stack(rows, 0)
