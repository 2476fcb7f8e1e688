"""RMSprop, written in ops."""

import _terra_C as C

from .._names import lazily
from .optimizer import GroupOptimizer, check_not_negative

__getattr__ = lazily(__name__, functions={"terra.optim.functional": ("rmsprop",)})


class RMSprop(GroupOptimizer):
    def __init__(
        self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False,
        foreach=None, maximize=False, differentiable=False,
    ):  # fmt: skip
        check_not_negative(lr, "learning rate")
        check_not_negative(eps, "epsilon value")
        check_not_negative(momentum, "momentum value")
        check_not_negative(weight_decay, "weight_decay value")
        check_not_negative(alpha, "alpha value")
        defaults = dict(
            lr=lr, momentum=momentum, alpha=alpha, eps=eps, centered=centered, weight_decay=weight_decay,
            capturable=capturable, foreach=foreach, maximize=maximize, differentiable=differentiable,
        )  # fmt: skip
        super().__init__(params, defaults)

    def _update(self, group, p, grad, state):
        if not state:
            state["step"] = C.tensor(0.0, dtype=C.float32)
            state["square_avg"] = C.zeros_like(p)
            if group["momentum"] > 0:
                state["momentum_buffer"] = C.zeros_like(p)
            if group["centered"]:
                state["grad_avg"] = C.zeros_like(p)
        alpha = group["alpha"]
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        state["step"].add_(1)
        square_avg = state["square_avg"]
        square_avg.mul_(alpha).add_(grad * grad, alpha=1 - alpha)
        average = square_avg
        if group["centered"]:
            grad_avg = state["grad_avg"]
            grad_avg.mul_(alpha).add_(grad, alpha=1 - alpha)
            average = square_avg - grad_avg * grad_avg
        update = grad / average.sqrt().add_(group["eps"])
        if group["momentum"] > 0:
            update = state["momentum_buffer"].mul_(group["momentum"]).add_(update)
        p.add_(update, alpha=-group["lr"])
