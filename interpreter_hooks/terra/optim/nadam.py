"""NAdam: Adam with Nesterov momentum, written in ops."""

import _terra_C as C

from .._names import lazily
from .counting import CountingOptimizer, average_moments, with_weight_decay
from .optimizer import check_betas, check_not_negative

__getattr__ = lazily(__name__, functions={"terra.optim.functional": ("nadam",)})


class NAdam(CountingOptimizer):
    _numbers = ("step", "mu_product")

    def __init__(
        self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
        decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False,
    ):  # fmt: skip
        check_not_negative(lr, "learning rate")
        check_not_negative(eps, "epsilon value")
        check_betas(betas)
        check_not_negative(weight_decay, "weight_decay value")
        check_not_negative(momentum_decay, "momentum_decay value")
        defaults = dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, foreach=foreach, capturable=capturable,
            differentiable=differentiable,
        )  # fmt: skip
        super().__init__(params, defaults)

    def _new_state(self, group, p, state):
        state["mu_product"] = 1.0
        state["exp_avg"] = C.zeros_like(p)
        state["exp_avg_sq"] = C.zeros_like(p)

    def _update(self, group, p, grad, state):
        lr, step = group["lr"], state["step"]
        beta1, beta2 = group["betas"]
        grad = with_weight_decay(group, p, grad)
        exp_avg, exp_avg_sq = average_moments(group, grad, state)
        mu = beta1 * (1 - 0.5 * 0.96 ** (step * group["momentum_decay"]))
        mu_next = beta1 * (1 - 0.5 * 0.96 ** ((step + 1) * group["momentum_decay"]))
        state["mu_product"] *= mu
        denominator = (exp_avg_sq / (1 - beta2**step)).sqrt().add_(group["eps"])
        p.add_(grad / denominator, alpha=-lr * (1 - mu) / (1 - state["mu_product"]))
        p.add_(exp_avg / denominator, alpha=-lr * mu_next / (1 - state["mu_product"] * mu_next))
