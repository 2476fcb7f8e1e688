"""Models: layers, names, shapes and, at equal seed, initial values are torchvision's. There are no trained weights."""

import importlib

from . import _api, segmentation  # noqa: F401
from ._api import *  # noqa: F403
from .alexnet import *  # noqa: F403
from .convnext import *  # noqa: F403
from .densenet import *  # noqa: F403
from .efficientnet import *  # noqa: F403
from .googlenet import *  # noqa: F403
from .inception import *  # noqa: F403
from .maxvit import *  # noqa: F403
from .mnasnet import *  # noqa: F403
from .mobilenet import *  # noqa: F403
from .regnet import *  # noqa: F403
from .resnet import *  # noqa: F403
from .shufflenetv2 import *  # noqa: F403
from .squeezenet import *  # noqa: F403
from .swin_transformer import *  # noqa: F403
from .vgg import *  # noqa: F403
from .vision_transformer import *  # noqa: F403

globals().update(_api.all_weights())

_PARTS = ("detection", "feature_extraction", "optical_flow", "quantization", "video")


def __getattr__(name):
    if name in _PARTS:
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"torchvision.models.{name} is not in Terra", name=name)
