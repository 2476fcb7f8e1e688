"""ASGD: stochastic gradient descent whose parameters are averaged, written in ops."""

import _terra_C as C

from .._names import lazily
from .counting import CountingOptimizer
from .optimizer import check_not_negative

__getattr__ = lazily(__name__, functions={"terra.optim.functional": ("asgd",)})


class ASGD(CountingOptimizer):
    _numbers = ("step", "eta", "mu")

    def __init__(
        self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
        differentiable=False, capturable=False,
    ):  # fmt: skip
        check_not_negative(lr, "learning rate")
        check_not_negative(weight_decay, "weight_decay value")
        defaults = dict(
            lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay, foreach=foreach, maximize=maximize,
            differentiable=differentiable, capturable=capturable,
        )  # fmt: skip
        super().__init__(params, defaults)

    def _new_state(self, group, p, state):
        state["eta"] = float(group["lr"])
        state["mu"] = 1.0
        state["ax"] = C.zeros_like(p)

    def _update(self, group, p, grad, state):
        lr, step, mu, eta = group["lr"], state["step"], state["mu"], state["eta"]
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        p.mul_(1 - group["lambd"] * eta)
        p.add_(grad, alpha=-eta)
        average = state["ax"]
        if mu != 1:
            average.add_((p - average) * mu)
        else:
            average.copy_(p)
        state["eta"] = lr / (1 + group["lambd"] * lr * step) ** group["alpha"]
        state["mu"] = 1.0 / max(1.0, step - group["t0"])
