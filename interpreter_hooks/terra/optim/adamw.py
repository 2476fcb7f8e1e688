"""Adam with weight decay apart from the gradient."""

from .._names import lazily
from .adam import Adam

__getattr__ = lazily(__name__, functions={"terra.optim.functional": ("adamw",)})


class AdamW(Adam):
    _decoupled = True

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False,
        foreach=None, capturable=False, differentiable=False, fused=None,
    ):  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused,
        )  # fmt: skip
