"""gradcheck: gradients against differences of the function."""

import _terra_C as C


class GradcheckError(RuntimeError):
    pass


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, **_):
    """True when the gradients of func at `inputs` (float64, complex128) equal central differences."""
    inputs = (inputs,) if isinstance(inputs, C.Tensor) else tuple(inputs)
    func, inputs = _in_parts(func, inputs)
    outputs = func(*inputs)
    outputs = (outputs,) if isinstance(outputs, C.Tensor) else tuple(outputs)
    for o, output in enumerate(outputs):
        if not output.requires_grad:
            continue
        for i, x in enumerate(inputs):
            if isinstance(x, C.Tensor) and x.requires_grad:
                analytical = _analytical(output, x)
                numerical = _numerical(func, inputs, i, o, eps)
                if not ((analytical - numerical).abs() <= atol + rtol * numerical.abs()).all():
                    if not raise_exception:
                        return False
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
        outputs = func(*(C.view_as_complex(v) if pair else v for v, pair in zip(values, pairs)))
        outputs = (outputs,) if isinstance(outputs, C.Tensor) else tuple(outputs)
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
    rows = []
    with C.no_grad():
        flat = inputs[i].detach().contiguous()
        for k in range(flat.numel()):
            ends = []
            for step in (eps, -eps):
                moved = flat.clone().view(-1)
                moved[k] += step
                moved = moved.view(flat.shape)
                values = func(*inputs[:i], moved, *inputs[i + 1 :])
                values = (values,) if isinstance(values, C.Tensor) else tuple(values)
                ends.append(values[o].detach().flatten().clone())
            rows.append((ends[0] - ends[1]) / (2 * eps))
    return C.stack(rows, 0)
