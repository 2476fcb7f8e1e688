"""torch.optim._functional: see functional."""

from .functional import *  # noqa: F401,F403
