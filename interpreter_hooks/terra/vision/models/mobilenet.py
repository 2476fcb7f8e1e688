"""Both versions of MobileNet."""

from .mobilenetv2 import *  # noqa: F403
from .mobilenetv2 import __all__ as _second
from .mobilenetv3 import *  # noqa: F403
from .mobilenetv3 import __all__ as _third

__all__ = [*_second, *_third]
