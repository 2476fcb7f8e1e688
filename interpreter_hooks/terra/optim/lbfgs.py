"""LBFGS: steps along directions that remember how the gradient changed, with a closure that is called many times."""

import _terra_C as C

from .line_search import cubic_minimum as _cubic_interpolate  # noqa: F401
from .line_search import strong_wolfe
from .optimizer import Optimizer, check_not_negative


def _strong_wolfe(obj_func, x, t, d, f, g, gtd, c1=1e-4, c2=0.9, tolerance_change=1e-9, max_ls=25):
    """The line search alone: obj_func(x, t, d) gives loss and gradient at x + t d."""
    return strong_wolfe(lambda length: obj_func(x, length, d), t, d, f, g, gtd, c1, c2, tolerance_change, max_ls)


class LBFGS(Optimizer):
    """All parameters are one vector here; there is one group of them."""

    def __init__(
        self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100,
        line_search_fn=None, *, maximize=False,
    ):  # fmt: skip
        check_not_negative(lr, "learning rate")
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        defaults = dict(
            lr=lr, max_iter=max_iter, max_eval=max_eval, tolerance_grad=tolerance_grad,
            tolerance_change=tolerance_change, history_size=history_size, line_search_fn=line_search_fn,
            maximize=maximize,
        )  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    # ---- the parameters as one vector ----

    def _gradient(self):
        parts = [
            C.zeros(p.numel(), dtype=p.dtype) if p.grad is None else p.grad.to_dense().reshape(-1) for p in self._params
        ]
        return C.cat(parts).neg() if self.param_groups[0].get("maximize", False) else C.cat(parts)

    def _height(self, loss):
        """What is made small: the loss, or minus the loss that is to become large."""
        return -float(loss) if self.param_groups[0].get("maximize", False) else float(loss)

    def _move(self, length, direction):
        at = 0
        for p in self._params:
            p.add_(direction[at : at + p.numel()].view_as(p), alpha=length)
            at += p.numel()

    def _evaluate(self, closure, start, length, direction):
        """Loss and gradient at a point of a line, where the parameters don't stay."""
        self._move(length, direction)
        loss, gradient = self._height(self._loss_of(closure)), self._gradient()
        for p, before in zip(self._params, start):
            p.copy_(before)
        return loss, gradient

    # ---- steps ----

    def step(self, closure):
        self._opt_called = True
        with C.no_grad():
            return self._step(closure)

    def _step(self, closure):
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        first_loss = self._loss_of(closure)
        loss, gradient = self._height(first_loss), self._gradient()
        evaluations = 1
        state["func_evals"] = state.get("func_evals", 0) + 1
        state.setdefault("n_iter", 0)
        if gradient.abs().max() <= group["tolerance_grad"]:
            return first_loss
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            begins = state["n_iter"] == 1
            direction = self._direction(state, group, gradient, begins)
            state["prev_flat_grad"], state["prev_loss"] = gradient.clone(), loss
            length = min(1.0, 1.0 / gradient.abs().sum().item()) * group["lr"] if begins else group["lr"]
            state["d"], state["t"] = direction, length
            slope = gradient.dot(direction)
            if slope > -group["tolerance_change"]:
                break
            searched = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                start = [p.clone() for p in self._params]
                loss, gradient, length, searched = strong_wolfe(
                    lambda t: self._evaluate(closure, start, t, direction), length, direction, loss, gradient, slope,
                    most=min(25, group["max_eval"] - evaluations),
                )  # fmt: skip
                self._move(length, direction)
                state["t"] = length
            else:
                self._move(length, direction)
                if iteration != group["max_iter"]:  # the last point is not looked at
                    loss, gradient = self._height(self._loss_of(closure)), self._gradient()
                    searched = 1
            evaluations += searched
            state["func_evals"] += searched
            if (
                evaluations >= group["max_eval"]
                or gradient.abs().max() <= group["tolerance_grad"]
                or direction.mul(length).abs().max() <= group["tolerance_change"]
                or abs(loss - state["prev_loss"]) < group["tolerance_change"]
            ):
                break
        return first_loss

    def _direction(self, state, group, gradient, begins):
        """What the inverse of the Hessian, as the last changes of the gradient tell it, makes of the gradient."""
        if begins:
            state["old_dirs"], state["old_stps"], state["ro"], state["H_diag"] = [], [], [], 1
            return gradient.neg()
        changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
        change, step = gradient.sub(state["prev_flat_grad"]), state["d"].mul(state["t"])
        curvature = change.dot(step)
        if curvature > 1e-10:
            if len(changes) == group["history_size"]:
                del changes[0], steps[0], inverses[0]
            changes.append(change)
            steps.append(step)
            inverses.append(1.0 / curvature)
            state["H_diag"] = curvature / change.dot(change)
        weights = [None] * len(changes)
        direction = gradient.neg()
        for i in reversed(range(len(changes))):
            weights[i] = steps[i].dot(direction) * inverses[i]
            direction = direction - weights[i] * changes[i]
        direction = direction * state["H_diag"]
        for i in range(len(changes)):
            direction = direction + (weights[i] - changes[i].dot(direction) * inverses[i]) * steps[i]
        return direction
