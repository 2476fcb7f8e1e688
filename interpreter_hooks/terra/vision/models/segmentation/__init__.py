"""Models that give a class to every pixel: FCN, DeepLabV3, LR-ASPP."""

from .._api import all_weights
from .deeplabv3 import *  # noqa: F403
from .fcn import *  # noqa: F403
from .lraspp import *  # noqa: F403

globals().update({name: weights for name, weights in all_weights().items() if weights.__module__.startswith(__name__)})
