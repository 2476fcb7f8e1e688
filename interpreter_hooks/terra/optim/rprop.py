"""Rprop: steps that grow while the gradient keeps its sign, written in ops."""

import _terra_C as C

from .._names import lazily
from .counting import CountingOptimizer
from .optimizer import check_not_negative

__getattr__ = lazily(__name__, functions={"terra.optim.functional": ("rprop",)})


class Rprop(CountingOptimizer):
    def __init__(
        self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None, maximize=False,
        differentiable=False,
    ):  # fmt: skip
        check_not_negative(lr, "learning rate")
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = dict(
            lr=lr, etas=etas, step_sizes=step_sizes, foreach=foreach, maximize=maximize, differentiable=differentiable,
            capturable=capturable,
        )  # fmt: skip
        super().__init__(params, defaults)

    def _new_state(self, group, p, state):
        state["prev"] = C.zeros_like(p)
        state["step_size"] = C.full_like(p, group["lr"])

    def _update(self, group, p, grad, state):
        shrink, grow = group["etas"]
        least, most = group["step_sizes"]
        agreement = grad * state["prev"]
        factor = C.where(agreement > 0, grow, C.where(agreement < 0, shrink, 1.0)).to(p.dtype)
        step_size = state["step_size"]
        step_size.mul_(factor).clamp_(least, most)
        grad = C.where(agreement < 0, C.zeros_like(grad), grad)  # no step where the sign has changed
        p.sub_(grad.sign() * step_size)
        state["prev"].copy_(grad)
