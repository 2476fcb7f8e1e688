"""The second form of transforms: of any nest of tuples, lists and dicts, in which all images change in the same way.

Images are Pillow's; where there is none, the first tensor is the image. All else passes. Boxes and other kinds of
targets are not told apart from tensors."""

from .. import transforms as _first
from ..autoaugment import AutoAugmentPolicy
from ..functional import InterpolationMode
from . import _policies, functional
from ._mixes import CutMix, MixUp
from ._more import RGB, GaussianNoise, Identity, RandomChannelPermutation, ToDtype, ToImage, ToPureTensor
from ._transform import Compose, RandomApply, RandomChoice, RandomOrder, Transform, of_nests

_OWN = {"Compose", "RandomApply", "RandomChoice", "RandomOrder", "RandomTransforms", "Lambda", "InterpolationMode"}
_WRAPPED = {
    name: of_nests(getattr(module, name), __name__)
    for module, names in ((_first, _first.__all__), (_policies, _policies.__all__))
    for name in names
    if name not in _OWN
}
globals().update(_WRAPPED)

Lambda = _first.Lambda

__all__ = [
    "AutoAugmentPolicy", "Compose", "CutMix", "GaussianNoise", "Identity", "InterpolationMode", "Lambda", "MixUp",
    "RGB", "RandomApply", "RandomChannelPermutation", "RandomChoice", "RandomOrder", "ToDtype", "ToImage",
    "ToPureTensor", "Transform", "functional", *_WRAPPED,
]  # fmt: skip
