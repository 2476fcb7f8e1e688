"""Derivatives of functions."""

from ..func import (  # noqa: F401
    functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp,
)  # fmt: skip
