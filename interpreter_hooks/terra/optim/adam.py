"""Adam: parameters that are at the same step are updated by one op."""

import _terra_C as C

from .._names import lazily
from .counting import CountingOptimizer, average_moments, with_weight_decay
from .optimizer import check_betas, check_not_negative, in_parts

ops = C._ops
__getattr__ = lazily(__name__, functions={"terra.optim.functional": ("adam",)})


class Adam(CountingOptimizer):
    _decoupled = False

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
        maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False,
    ):  # fmt: skip
        if not isinstance(lr, C.Tensor):
            check_not_negative(lr, "learning rate")
        elif foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check_not_negative(eps, "epsilon value")
        check_betas(betas)
        check_not_negative(weight_decay, "weight_decay value")
        if not any(all(isinstance(beta, kind) for beta in betas) for kind in (float, C.Tensor)):
            raise ValueError("betas must be either both floats or both Tensors")
        defaults = dict(
            lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad, maximize=maximize, foreach=foreach,
            capturable=capturable, differentiable=differentiable, fused=fused,
            decoupled_weight_decay=decoupled_weight_decay or self._decoupled,
        )  # fmt: skip
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("amsgrad", False)
            group.setdefault("maximize", False)
            group.setdefault("foreach", None)
            group.setdefault("capturable", False)
            group.setdefault("differentiable", False)
            group.setdefault("fused", None)
            group.setdefault("decoupled_weight_decay", self._decoupled)

    def _new_state(self, state, p, group):
        state["step"] = 0
        state["exp_avg"] = C.zeros_like(p)
        state["exp_avg_sq"] = C.zeros_like(p)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = C.zeros_like(p)

    def _step_group(self, group):
        states, params, grads, exp_avgs, exp_avg_sqs = [], [], [], [], []
        together = True
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if grad.is_sparse:
                self._refuse_sparse()
            state = self.state[p]
            if not state:
                self._new_state(state, p, group)
            elif state["exp_avg"].dtype != p.dtype:  # the model was converted since
                for name in ("exp_avg", "exp_avg_sq", "max_exp_avg_sq"):
                    if name in state:
                        state[name] = state[name].to(p.dtype)
            state["step"] += 1
            params.append(p)
            grads.append(grad)
            states.append(state)
            exp_avgs.append(state["exp_avg"])
            exp_avg_sqs.append(state["exp_avg_sq"])
            if state["step"] != states[0]["step"]:
                together = False
        if not params:
            return
        if group["amsgrad"]:
            for i, state in enumerate(states):
                self._update_amsgrad(group, params[i], grads[i], state)
        elif together:
            self._update(group, params, grads, exp_avgs, exp_avg_sqs, states[0]["step"])
        else:  # parameters that missed steps have their own bias correction
            for i, state in enumerate(states):
                self._update(group, [params[i]], [grads[i]], [exp_avgs[i]], [exp_avg_sqs[i]], state["step"])

    def _refuse_sparse(self):
        raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")

    def _update(self, group, params, grads, exp_avgs, exp_avg_sqs, step):
        lr = group["lr"]
        betas = group["betas"]
        ops.adam_update(
            in_parts(params),
            in_parts(grads),
            in_parts(exp_avgs),
            in_parts(exp_avg_sqs),
            step,
            lr.item() if isinstance(lr, C.Tensor) else lr,
            betas[0],
            betas[1],
            group["eps"],
            group["weight_decay"],
            group["decoupled_weight_decay"],
            group["maximize"],
        )

    def _update_amsgrad(self, group, p, grad, state):
        """The variant that divides by the largest second moment so far, written in ops."""
        lr, eps, step, largest = group["lr"], group["eps"], state["step"], state["max_exp_avg_sq"]
        beta1, beta2 = group["betas"]
        grad = with_weight_decay(group, p, -grad if group["maximize"] else grad)
        exp_avg, exp_avg_sq = average_moments(group, grad, state)
        largest.copy_(C.maximum(largest, exp_avg_sq))
        denominator = (largest.sqrt() / (1 - beta2**step) ** 0.5).add_(eps)
        p.add_(exp_avg / denominator, alpha=-lr / (1 - beta1**step))
