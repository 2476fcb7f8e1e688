"""Adadelta, written in ops."""

import _terra_C as C

from .._names import lazily
from .optimizer import GroupOptimizer, check_not_negative

__getattr__ = lazily(__name__, functions={"terra.optim.functional": ("adadelta",)})


class Adadelta(GroupOptimizer):
    def __init__(
        self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False,
        differentiable=False,
    ):  # fmt: skip
        check_not_negative(lr, "learning rate")
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative(eps, "epsilon value")
        check_not_negative(weight_decay, "weight_decay value")
        defaults = dict(
            lr=lr, rho=rho, eps=eps, weight_decay=weight_decay, maximize=maximize, capturable=capturable,
            foreach=foreach, differentiable=differentiable,
        )  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, group, p, grad, state):
        if not state:
            state["step"] = C.tensor(0.0, dtype=C.float32)
            state["square_avg"] = C.zeros_like(p)
            state["acc_delta"] = C.zeros_like(p)
        rho, eps = group["rho"], group["eps"]
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        state["step"].add_(1)
        square_avg, acc_delta = state["square_avg"], state["acc_delta"]
        square_avg.mul_(rho).add_(grad * grad, alpha=1 - rho)
        delta = (acc_delta + eps).sqrt() / (square_avg + eps).sqrt() * grad
        acc_delta.mul_(rho).add_(delta * delta, alpha=1 - rho)
        p.add_(delta, alpha=-group["lr"])
