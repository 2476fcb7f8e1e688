"""All transforms but the learned policies, under the name of the module that has them in torchvision."""

from . import _color, _compose, _conversion, _geometry
from ._color import *  # noqa: F403
from ._compose import *  # noqa: F403
from ._conversion import *  # noqa: F403
from ._geometry import *  # noqa: F403
from .functional import InterpolationMode

__all__ = ["InterpolationMode", *_color.__all__, *_compose.__all__, *_conversion.__all__, *_geometry.__all__]
