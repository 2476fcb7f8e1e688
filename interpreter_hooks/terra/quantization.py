"""torch.quantization: the former name of torch.ao.quantization."""

from .ao.quantization import *  # noqa: F401,F403
from .ao.quantization import __all__, __getattr__, default_eval_fn  # noqa: F401
