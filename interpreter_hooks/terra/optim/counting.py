"""Optimizers whose formulas need numbers that change with every step: how often a parameter was updated, and what is
made of it. They are Python numbers while training, so that a recorded step() turns them into scalar inputs; a saved
state_dict holds them as 0-d float tensors, as PyTorch does."""

import _terra_C as C

from .optimizer import GroupOptimizer


class CountingOptimizer(GroupOptimizer):
    _numbers = ("step",)  # the names of such numbers in the state of a parameter; `step` is an int, others are floats

    def __setstate__(self, state):
        super().__setstate__(state)
        for state in self.state.values():
            for name in self._numbers:
                if name in state:
                    state[name] = int(state[name]) if name == "step" else float(state[name])

    def _packed_state(self):
        packed = super()._packed_state()
        for key, state in packed["state"].items():
            numbers = {name: C.tensor(float(state[name]), dtype=C.float32) for name in self._numbers if name in state}
            packed["state"][key] = {**state, **numbers}
        return packed

    def _step_group(self, group):
        for p in group["params"]:
            grad = p.grad
            if grad is not None:
                if grad.is_sparse:
                    self._refuse_sparse()
                state = self.state[p]
                if not state:
                    state["step"] = 0
                    self._new_state(group, p, state)
                state["step"] += 1
                self._update(group, p, -grad if group["maximize"] else grad, state)


def with_weight_decay(group, p, grad):
    """The gradient with the decay in it; a decoupled decay shrinks the parameter instead."""
    decay = group["weight_decay"]
    if decay == 0:
        return grad
    if group["decoupled_weight_decay"]:
        p.mul_(1 - group["lr"] * decay)
        return grad
    return grad.add(p, alpha=decay)


def average_moments(group, grad, state):
    """Takes a gradient into the running averages of it and of its square, and returns both."""
    beta1, beta2 = group["betas"]
    exp_avg, exp_avg_sq = state["exp_avg"], state["exp_avg_sq"]
    exp_avg.mul_(beta1).add_(grad, alpha=1 - beta1)
    exp_avg_sq.mul_(beta2).add_(grad * grad, alpha=1 - beta2)
    return exp_avg, exp_avg_sq
