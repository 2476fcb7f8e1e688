"""The policies of changes as the second form draws them: signs by a uniform number, thresholds by an image's range."""

import _terra_C as C

from .. import autoaugment as first
from .. import functional as F
from .._random import integer

__all__ = ["AugMix", "AutoAugment", "RandAugment", "TrivialAugmentWide"]


class _Second:
    def _negative(self):
        return bool(C.rand(()) <= 0.5)

    def _apply_op(self, img, name, magnitude):
        if isinstance(img, C.Tensor) and img.is_floating_point():
            if name == "Solarize":
                return F.solarize(img, magnitude / 255.0)
            if name == "Posterize":
                levels = 2 ** int(magnitude)
                return img.mul(levels).floor().clamp(0, levels - 1).mul(1.0 / levels)
            if name == "Equalize":
                return F.convert_image_dtype(F.equalize(F.convert_image_dtype(img, C.uint8)), img.dtype)
        return super()._apply_op(img, name, magnitude)


class AutoAugment(_Second, first.AutoAugment):
    __doc__ = first.AutoAugment.__doc__

    def forward(self, img):
        _, height, width = F.get_dimensions(img)
        space = self._augmentation_space(10, (height, width))
        for name, p, magnitude_id in self.policies[integer(0, len(self.policies))]:
            if p <= C.rand(()):
                continue
            magnitudes, signed = space[name]
            magnitude = 0.0 if magnitude_id is None else float(magnitudes[magnitude_id].item())
            img = self._apply_op(img, name, -magnitude if signed and self._negative() else magnitude)
        return img


class RandAugment(_Second, first.RandAugment):
    __doc__ = first.RandAugment.__doc__


class TrivialAugmentWide(_Second, first.TrivialAugmentWide):
    __doc__ = first.TrivialAugmentWide.__doc__


class AugMix(_Second, first.AugMix):
    __doc__ = first.AugMix.__doc__
