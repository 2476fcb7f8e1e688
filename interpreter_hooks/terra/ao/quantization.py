"""torch.ao.quantization: see torch.quantization."""

from ..quantization import *  # noqa: F401,F403
from ..quantization import __all__, __getattr__  # noqa: F401
