"""grad, vmap and the like."""

from ..func import grad, grad_and_value, vmap  # noqa: F401
