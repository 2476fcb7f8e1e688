"""RAdam: Adam whose adaptive rate is held back while its variance is uncertain, written in ops."""

import _terra_C as C

from .._names import lazily
from .counting import CountingOptimizer, average_moments, with_weight_decay
from .optimizer import check_betas, check_not_negative

__getattr__ = lazily(__name__, functions={"terra.optim.functional": ("radam",)})


class RAdam(CountingOptimizer):
    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
        foreach=None, maximize=False, capturable=False, differentiable=False,
    ):  # fmt: skip
        check_not_negative(lr, "learning rate")
        check_not_negative(eps, "epsilon value")
        check_betas(betas)
        check_not_negative(weight_decay, "weight_decay value")
        defaults = dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, maximize=maximize, foreach=foreach,
            capturable=capturable, decoupled_weight_decay=decoupled_weight_decay, differentiable=differentiable,
        )  # fmt: skip
        super().__init__(params, defaults)

    def _new_state(self, group, p, state):
        state["exp_avg"] = C.zeros_like(p)
        state["exp_avg_sq"] = C.zeros_like(p)

    def _update(self, group, p, grad, state):
        lr, step = group["lr"], state["step"]
        beta1, beta2 = group["betas"]
        exp_avg, exp_avg_sq = average_moments(group, with_weight_decay(group, p, grad), state)
        power = beta2**step
        certain = 2 / (1 - beta2) - 1
        length = certain - 2 * step * power / (1 - power)  # of the average that the variance rests on
        rate = lr / (1 - beta1**step)
        if length > 5:
            rectified = (length - 4) * (length - 2) * certain / ((certain - 4) * (certain - 2) * length)
            scale = rate * rectified**0.5 * (1 - power) ** 0.5
            p.add_(exp_avg / exp_avg_sq.sqrt().add_(group["eps"]), alpha=-scale)
        else:
            p.add_(exp_avg, alpha=-rate)
