"""Adamax: Adam with the infinity norm, written in ops."""

import _terra_C as C

from .._names import lazily
from .counting import CountingOptimizer
from .optimizer import check_betas, check_not_negative

__getattr__ = lazily(__name__, functions={"terra.optim.functional": ("adamax",)})


class Adamax(CountingOptimizer):
    def __init__(
        self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
        differentiable=False, capturable=False,
    ):  # fmt: skip
        check_not_negative(lr, "learning rate")
        check_not_negative(eps, "epsilon value")
        check_betas(betas)
        check_not_negative(weight_decay, "weight_decay value")
        defaults = dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, foreach=foreach, maximize=maximize,
            differentiable=differentiable, capturable=capturable,
        )  # fmt: skip
        super().__init__(params, defaults)

    def _new_state(self, group, p, state):
        state["exp_avg"] = C.zeros_like(p)
        state["exp_inf"] = C.zeros_like(p)

    def _update(self, group, p, grad, state):
        beta1, beta2 = group["betas"]
        exp_avg, exp_inf = state["exp_avg"], state["exp_inf"]
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        exp_avg.mul_(beta1).add_(grad, alpha=1 - beta1)
        exp_inf.copy_(C.maximum(exp_inf * beta2, grad.abs() + group["eps"]))
        p.add_(exp_avg / exp_inf, alpha=-group["lr"] / (1 - beta1 ** state["step"]))
