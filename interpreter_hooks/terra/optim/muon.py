"""Muon: momentum whose matrices are made orthogonal before each step."""

import math

import _terra_C as C

from .optimizer import GroupOptimizer, check_one_element


def orthogonalized(matrix, coefficients, steps, eps):
    """Nearly the orthogonal factor of the matrix, by Newton and Schulz's iteration in bfloat16."""
    a, b, c = coefficients
    x = matrix.bfloat16()
    tall = matrix.size(0) > matrix.size(1)
    x = x.T if tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = C.addmm(x, C.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x


def _adjusted(rate, how, shape):
    rows, columns = shape[:2]
    if how is None or how == "original":
        return rate * math.sqrt(max(1, rows / columns))
    if how == "match_rms_adamw":
        return rate * 0.2 * math.sqrt(max(rows, columns))
    return rate * math.sqrt(rows / columns)


class Muon(GroupOptimizer):
    """For the matrices of hidden layers; other parameters need another optimizer."""

    def __init__(
        self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315),
        eps=1e-7, ns_steps=5, adjust_lr_fn=None,
    ):  # fmt: skip
        check_one_element(lr)
        for value, name in ((lr, "Learning rate"), (momentum, "momentum"), (weight_decay, "weight decay")):
            if not 0.0 <= value:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw", "spectral_unclamped"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = dict(
            lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov, ns_coefficients=ns_coefficients, eps=eps,
            ns_steps=ns_steps, adjust_lr_fn=adjust_lr_fn,
        )  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    def _update(self, group, p, grad, state):
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = C.zeros_like(grad)
        buffer = state["momentum_buffer"]
        buffer.lerp_(grad, 1 - group["momentum"])
        direction = grad.lerp(buffer, group["momentum"]) if group["nesterov"] else buffer
        direction = orthogonalized(direction, group["ns_coefficients"], group["ns_steps"], group["eps"])
        p.mul_(1 - group["lr"] * group["weight_decay"])
        p.add_(direction, alpha=-_adjusted(group["lr"], group["adjust_lr_fn"], p.shape))
