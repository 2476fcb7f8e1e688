"""torch.optim._functional: see functional."""

from .functional import adam, adamw, sgd  # noqa: F401
