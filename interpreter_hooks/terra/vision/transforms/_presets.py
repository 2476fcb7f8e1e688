"""How images are prepared for the weights of models."""

import _terra_C as C

from ... import nn
from . import functional as F

__all__ = ["ImageClassification", "SemanticSegmentation"]

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet


class _Preset(nn.Module):
    def __init__(self, resize_size, mean, std, interpolation, antialias):
        super().__init__()
        self.resize_size = resize_size
        self.mean = list(mean)
        self.std = list(std)
        self.interpolation = interpolation
        self.antialias = antialias

    def _normalized(self, img):
        img = img if isinstance(img, C.Tensor) else F.pil_to_tensor(img)
        return F.normalize(F.convert_image_dtype(img, C.float32), mean=self.mean, std=self.std)

    def __repr__(self):
        shown = ("crop_size", "resize_size", "mean", "std", "interpolation")
        lines = "".join(f"\n    {name}={getattr(self, name)}" for name in shown if hasattr(self, name))
        return f"{type(self).__name__}({lines}\n)"


class ImageClassification(_Preset):
    """Resized, cut out of the middle, as floats, normalized."""

    def __init__(
        self,
        *,
        crop_size,
        resize_size=256,
        mean=MEAN,
        std=STD,
        interpolation=F.InterpolationMode.BILINEAR,
        antialias=True,
    ):
        super().__init__([resize_size], mean, std, interpolation, antialias)
        self.crop_size = [crop_size]

    def forward(self, img):
        img = F.resize(img, self.resize_size, interpolation=self.interpolation, antialias=self.antialias)
        return self._normalized(F.center_crop(img, self.crop_size))


class SemanticSegmentation(_Preset):
    """Resized, as floats, normalized."""

    def __init__(self, *, resize_size, mean=MEAN, std=STD, interpolation=F.InterpolationMode.BILINEAR, antialias=True):
        super().__init__([resize_size] if resize_size is not None else None, mean, std, interpolation, antialias)

    def forward(self, img):
        if self.resize_size is not None:
            img = F.resize(img, self.resize_size, interpolation=self.interpolation, antialias=self.antialias)
        return self._normalized(img)
