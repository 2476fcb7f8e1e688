"""Adam for tables of which a step looks up a few rows: only those, and their moments, move."""

from .._names import lazily
from .optimizer import GroupOptimizer, add_rows_, check_betas, check_one_element, rows_of

__getattr__ = lazily(__name__, functions={"terra.optim.functional": ("sparse_adam",)})


class SparseAdam(GroupOptimizer):
    _takes_sparse = True

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        check_one_element(lr)
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, maximize=maximize))
        self._refuse("Sparse", lambda p: p.is_sparse, "requires dense parameter tensors")
        self._refuse("Complex", lambda p: p.is_complex(), "does not support complex parameters")

    def _refuse(self, kind, is_such, why):
        places = [[g, i] for g, group in enumerate(self.param_groups) for i, p in enumerate(group["params"]) if is_such(p)]
        if places:
            raise ValueError(f"{kind} params at indices {places}: SparseAdam {why}")

    def _update(self, group, p, grad, state):
        if not grad.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        if not state:
            state["step"] = 0
            state["exp_avg"] = p.new_zeros(p.shape)
            state["exp_avg_sq"] = p.new_zeros(p.shape)
        state["step"] += 1
        rows, values = rows_of(-grad if group["maximize"] else grad)
        beta1, beta2 = group["betas"]
        average = _moved(state["exp_avg"], rows, values, beta1)
        square = _moved(state["exp_avg_sq"], rows, values * values, beta2)
        size = group["lr"] * (1 - beta2 ** state["step"]) ** 0.5 / (1 - beta1 ** state["step"])
        add_rows_(p, rows, average / square.sqrt().add_(group["eps"]) * -size)


def _moved(average, rows, values, beta):
    """Takes values into those rows of a running average; gives what they are then."""
    before = average[rows]
    change = (values - before) * (1 - beta)
    add_rows_(average, rows, change)
    return change + before
