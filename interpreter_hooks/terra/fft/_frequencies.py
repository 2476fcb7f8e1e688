"""The frequencies that the numbers of a spectrum stand for, and spectra with frequency 0 in the middle."""

import _terra_C as C

from .._functions import _into
from ._transforms import _named


def _frequencies(name, numbers, n, d, out, dtype, requires_grad, options):
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    dtype = C.get_default_dtype() if dtype is None else dtype
    options["dtype"] = dtype
    result = C.tensor(numbers, **options) * (1.0 / (n * d)) if numbers else C.empty(0, **options)
    return _into(out, result).requires_grad_(requires_grad)


def fftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """0, 1, ... and then the negative ones, of n points at distances d."""
    numbers = [*range((n + 1) // 2), *range(-(n // 2), 0)]
    return _frequencies("fftfreq", numbers, n, d, out, dtype, requires_grad, {"device": device})


def rfftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """Those of the half that rfft gives."""
    return _frequencies("rfftfreq", list(range(n // 2 + 1)), n, d, out, dtype, requires_grad, {"device": device})


def _shifted(input, dim, by):
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    return C.roll(input, [by(input.size(d)) for d in dims], dims) if dims else input.clone()


def fftshift(input, dim=None, *, axis=None):
    """Frequency 0 moved to the middle."""
    return _shifted(input, _named(dim, axis), lambda n: n // 2)


def ifftshift(input, dim=None, *, axis=None):
    """Frequency 0 moved back to the beginning."""
    return _shifted(input, _named(dim, axis), lambda n: (n + 1) // 2)
