"""Adagrad, written in ops."""

import _terra_C as C

from .._names import lazily
from .optimizer import GroupOptimizer, add_rows_, check_not_negative, rows_of

__getattr__ = lazily(__name__, functions={"terra.optim.functional": ("adagrad",)})


class Adagrad(GroupOptimizer):
    def __init__(
        self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *,
        maximize=False, differentiable=False, fused=None,
    ):  # fmt: skip
        check_not_negative(lr, "learning rate")
        check_not_negative(lr_decay, "lr_decay value")
        check_not_negative(weight_decay, "weight_decay value")
        check_not_negative(initial_accumulator_value, "initial_accumulator_value value")
        check_not_negative(eps, "epsilon value")
        defaults = dict(
            lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value, foreach=foreach, maximize=maximize,
            differentiable=differentiable, fused=fused,
        )  # fmt: skip
        super().__init__(params, defaults)

    def add_param_group(self, param_group):
        super().add_param_group(param_group)
        for p in self.param_groups[-1]["params"]:
            self.state[p]["step"] = C.tensor(0.0, dtype=C.float32)
            self.state[p]["sum"] = C.full_like(p, self.defaults["initial_accumulator_value"], dtype=p.dtype).detach()

    _takes_sparse = True

    def _update(self, group, p, grad, state):
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"] != 0:
            if grad.is_sparse:
                raise RuntimeError("weight_decay option is not compatible with sparse gradients")
            grad = grad.add(p, alpha=group["weight_decay"])
        state["step"].add_(1)
        rate = group["lr"]
        if group["lr_decay"] != 0:
            rate = rate / (1 + (state["step"].item() - 1) * group["lr_decay"])
        if grad.is_sparse:
            rows, values = rows_of(grad)
            total = add_rows_(state["sum"], rows, values * values)[rows]
            add_rows_(p, rows, values / total.sqrt().add_(group["eps"]) * -rate)
            return
        state["sum"].add_(grad * grad)
        p.add_(grad / state["sum"].sqrt().add_(group["eps"]), alpha=-rate)
