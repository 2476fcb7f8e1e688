"""terra.signal.windows: windows over a signal, symmetric unless asked otherwise."""

import math

import _terra_C as C

from ._curves import bell, cosines, sampled, triangle

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
    "kaiser", "nuttall",
]  # fmt: skip


def _checked(name, M, dtype, layout):
    """The dtype of the window; what is wrong with it, the length or the layout is said."""
    dtype = C.get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if layout not in (None, C.strided):
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if dtype not in (C.float32, C.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    return dtype


def _made(name, M, sym, dtype, layout, device, requires_grad, curve):
    dtype = _checked(name, M, dtype, layout)
    return sampled(curve, M, M - 1 if sym else M, dtype, device, requires_grad)


def exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def curve(i, last):
        return C.exp(-C.abs(i - (last / 2 if center is None else center)) / tau)

    return _made("exponential", M, sym, dtype, layout, device, requires_grad, curve)


def cosine(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    def curve(i, last):
        return C.sin((i + 0.5) * (math.pi / (last + 1)))

    return _made("cosine", M, sym, dtype, layout, device, requires_grad, curve)


def gaussian(M, *, std=1.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")

    def curve(i, last):
        return C.exp(-(((i - last / 2) / (std * math.sqrt(2))) ** 2))

    return _made("gaussian", M, sym, dtype, layout, device, requires_grad, curve)


def kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _made("kaiser", M, sym, dtype, layout, device, requires_grad, bell(beta))


def bartlett(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    return _made("bartlett", M, sym, dtype, layout, device, requires_grad, triangle)


def general_cosine(M, *, a, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    """The sum of cosines with these factors, of alternating signs."""
    dtype = _checked("general_cosine", M, dtype, layout)
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    alternating = [factor if k % 2 == 0 else -factor for k, factor in enumerate(a)]
    return _made("general_cosine", M, sym, dtype, layout, device, requires_grad, cosines(*alternating))


def general_hamming(M, *, alpha=0.54, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, requires_grad=requires_grad)


def hamming(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, requires_grad=requires_grad)


def hann(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, requires_grad=requires_grad)


def blackman(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, layout=layout, requires_grad=requires_grad)


def nuttall(M, *, sym=True, dtype=None, layout=None, device=None, requires_grad=False):
    factors = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return general_cosine(M, a=factors, sym=sym, dtype=dtype, layout=layout, requires_grad=requires_grad)
