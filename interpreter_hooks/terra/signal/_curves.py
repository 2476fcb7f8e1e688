"""The curves that windows are made of, as functions of the place i = 0, 1, ... of `last`."""

import math

import _terra_C as C


def sampled(curve, length, last, dtype, device, requires_grad):
    """A window: one point of the curve for each place, computed in double precision. One place alone is the top."""
    if length <= 1:
        return C.ones(length, dtype=dtype, device=device).requires_grad_(requires_grad)
    return curve(C.arange(length, dtype=C.float64, device=device), last).to(dtype).requires_grad_(requires_grad)


def cosines(*factors):
    """sum_k factors[k] cos(2 pi k i / last)."""

    def curve(i, last):
        return sum(factor * C.cos(i * (2 * math.pi * k / last)) for k, factor in enumerate(factors))

    return curve


def triangle(i, last):
    return 1 - C.abs(2 * i / last - 1)


def bell(beta):
    """Kaiser's: I0(beta sqrt(1 - x^2)) / I0(beta) for x from -1 to 1."""

    def curve(i, last):
        inside = C.clamp(1 - (2 * i / last - 1) ** 2, min=0)
        return C.i0(beta * C.sqrt(inside)) / C.i0(C.tensor(float(beta), dtype=C.float64))

    return curve
