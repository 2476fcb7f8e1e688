"""torch.cuda.comm: see torch.nn.parallel.comm."""

from ..nn.parallel.comm import *  # noqa: F401,F403
