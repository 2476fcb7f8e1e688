"""Stochastic gradient descent, with momentum."""

import _terra_C as C

from .._names import lazily
from .optimizer import GroupOptimizer, check_not_negative, in_parts

ops = C._ops
__getattr__ = lazily(__name__, functions={"terra.optim.functional": ("sgd",)})


class SGD(GroupOptimizer):
    def __init__(
        self, params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False, foreach=None,
        differentiable=False, fused=None,
    ):  # fmt: skip
        if not isinstance(lr, C.Tensor):
            check_not_negative(lr, "learning rate")
        check_not_negative(momentum, "momentum value")
        check_not_negative(weight_decay, "weight_decay value")
        defaults = dict(
            lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov,
            maximize=maximize, foreach=foreach, differentiable=differentiable, fused=fused,
        )  # fmt: skip
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, defaults)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("nesterov", False)
            group.setdefault("maximize", False)
            group.setdefault("foreach", None)
            group.setdefault("differentiable", False)
            group.setdefault("fused", None)

    def _step_group(self, group):
        """Parameters at their first step (no momentum buffer yet) and the others are updated by one op each."""
        momentum = group["momentum"]
        params, grads, buffers = [], [], []
        new_params, new_grads, new_buffers = [], [], []
        for p in group["params"]:
            grad = p.grad
            if grad is None:
                continue
            if grad.is_sparse:
                self._update_rows(group, p, grad)
                continue
            if momentum == 0:
                params.append(p)
                grads.append(grad)
                continue
            state = self.state[p]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = C.zeros_like(p)
                state["momentum_buffer"] = buffer
                new_params.append(p)
                new_grads.append(grad)
                new_buffers.append(buffer)
            else:
                if buffer.dtype != p.dtype:  # the model was converted since
                    buffer = buffer.to(p.dtype)
                    state["momentum_buffer"] = buffer
                params.append(p)
                grads.append(grad)
                buffers.append(buffer)
        if params:
            self._update(group, params, grads, buffers, False)
        if new_params:
            self._update(group, new_params, new_grads, new_buffers, True)

    def _update_rows(self, group, p, grad):
        """A sparse gradient moves the rows that it names; the momentum is as sparse as the gradients were."""
        momentum = group["momentum"]
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        if momentum != 0:
            state = self.state[p]
            buffer = state.get("momentum_buffer")
            buffer = grad.detach() if buffer is None else (buffer * momentum).add(grad, alpha=1 - group["dampening"])
            state["momentum_buffer"] = buffer
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        lr = group["lr"]
        p.add_(grad, alpha=-(lr.item() if isinstance(lr, C.Tensor) else lr))

    def _update(self, group, params, grads, buffers, first):
        lr = group["lr"]
        ops.sgd_update(
            in_parts(params),
            in_parts(grads),
            in_parts(buffers),
            lr.item() if isinstance(lr, C.Tensor) else lr,
            group["momentum"],
            group["dampening"],
            group["weight_decay"],
            group["nesterov"],
            group["maximize"],
            first,
        )
