"""Adafactor: second moments of matrices as products of a column and a row, and steps relative to the parameter."""

import _terra_C as C

from .optimizer import GroupOptimizer, check_one_element


class Adafactor(GroupOptimizer):
    def __init__(
        self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None, maximize=False
    ):
        check_one_element(lr)
        if not 0.0 <= lr:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not 0.0 >= beta2_decay:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        for i, value in enumerate(eps):
            if value is not None and not 0.0 <= value:
                raise ValueError(f"epsilon{i + 1} should be >= 0 but is: {value}")
        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = dict(
            lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay, foreach=foreach, maximize=maximize
        )
        super().__init__(params, defaults)

    def _update(self, group, p, grad, state):
        if group["maximize"]:
            grad = -grad
        if "step" not in state:
            state["step"] = C.tensor(0.0, dtype=C.float32)
            if grad.dim() > 1:
                state["row_var"] = C.zeros((*grad.shape[:-1], 1), dtype=grad.dtype)
                state["col_var"] = C.zeros((*grad.shape[:-2], 1, grad.size(-1)), dtype=grad.dtype)
            else:
                state["variance"] = C.zeros_like(grad)
        state["step"].add_(1)
        step = state["step"].item()
        eps1, eps2 = group["eps"]
        eps1 = C.finfo(p.dtype).eps if eps1 is None else eps1
        share = step ** group["beta2_decay"]
        root = p.numel() ** 0.5
        rate = max(eps2, p.norm(2).item() / root) * min(group["lr"], 1 / step**0.5)
        if group["weight_decay"] != 0:
            p.mul_(1 - group["lr"] * group["weight_decay"])
        if grad.dim() > 1:
            rows, columns = state["row_var"], state["col_var"]
            rows.lerp_(grad.norm(dim=-1, keepdim=True).square() / grad.size(-1), share)
            columns.lerp_(grad.norm(dim=-2, keepdim=True).square() / grad.size(-2), share)
            variance = (rows @ columns) / rows.mean(-2, keepdim=True).clamp(min=eps1)
        else:
            variance = state["variance"]
            variance.lerp_(grad.square(), share)
        update = variance.clamp(min=eps1 * eps1).rsqrt() * grad
        p.add_(update, alpha=-rate / max(1.0, update.norm(2).item() / (root * group["d"])))
