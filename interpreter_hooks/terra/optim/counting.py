"""Optimizers whose formulas need numbers that change with every step: how often a parameter was updated, and what is
made of it. They are Python numbers while training, so that a recorded step() turns them into scalar inputs; a saved
state_dict holds them as 0-d float tensors, as PyTorch does."""

import _terra_C as C

from .optimizer import Optimizer


class CountingOptimizer(Optimizer):
    _numbers = ("step",)  # the names of such numbers in the state of a parameter; `step` is an int, others are floats

    def __setstate__(self, state):
        super().__setstate__(state)
        for state in self.state.values():
            for name in self._numbers:
                if name in state:
                    state[name] = int(state[name]) if name == "step" else float(state[name])

    def state_dict(self):
        packed = super().state_dict()
        for key, state in packed["state"].items():
            numbers = {name: C.tensor(float(state[name]), dtype=C.float32) for name in self._numbers if name in state}
            packed["state"][key] = {**state, **numbers}
        return packed

    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = self._loss_of(closure)
        with C.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        state = self.state[p]
                        if not state:
                            state["step"] = 0
                            self._new_state(group, p, state)
                        state["step"] += 1
                        self._update(group, p, -p.grad if group["maximize"] else p.grad, state)
        return loss
