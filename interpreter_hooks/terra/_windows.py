"""hann_window and its kin: windows over a signal, in the older form that is periodic unless asked otherwise."""

import _terra_C as C

from .signal._curves import bell, cosines, sampled, triangle


def _made(name, length, periodic, dtype, device, requires_grad, curve):
    dtype = C.get_default_dtype() if dtype is None else dtype
    if not dtype.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {dtype}")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    return sampled(curve, length, length if periodic else length - 1, dtype, device, requires_grad)


def hann_window(
    window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    return _made("hann_window", window_length, periodic, dtype, device, requires_grad, cosines(0.5, -0.5))


def hamming_window(
    window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, layout=None, device=None, pin_memory=False,
    requires_grad=False,
):  # fmt: skip
    return _made("hamming_window", window_length, periodic, dtype, device, requires_grad, cosines(alpha, -beta))


def blackman_window(
    window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    return _made("blackman_window", window_length, periodic, dtype, device, requires_grad, cosines(0.42, -0.5, 0.08))


def bartlett_window(
    window_length, periodic=True, *, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False
):
    return _made("bartlett_window", window_length, periodic, dtype, device, requires_grad, triangle)


def kaiser_window(
    window_length, periodic=True, beta=12.0, *, dtype=None, layout=None, device=None, pin_memory=False,
    requires_grad=False,
):  # fmt: skip
    return _made("kaiser_window", window_length, periodic, dtype, device, requires_grad, bell(beta))
