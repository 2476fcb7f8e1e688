"""Learned and random policies of changes: AutoAugment, RandAugment, TrivialAugment, AugMix."""

import enum
import math

import _terra_C as C

from ... import nn
from . import functional as F
from ._policies import POLICIES
from ._random import fill_for, integer
from .functional import InterpolationMode

__all__ = ["AugMix", "AutoAugment", "AutoAugmentPolicy", "RandAugment", "TrivialAugmentWide"]


class AutoAugmentPolicy(enum.Enum):
    """The data set that a policy was found on."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


def _sheared(img, x, y, interpolation, fill):
    shear = [math.degrees(math.atan(x)), math.degrees(math.atan(y))]
    return F.affine(
        img, angle=0.0, translate=[0, 0], scale=1.0, shear=shear, interpolation=interpolation, fill=fill, center=[0, 0]
    )


def _moved(img, x, y, interpolation, fill):
    return F.affine(
        img, angle=0.0, translate=[int(x), int(y)], scale=1.0, shear=[0.0, 0.0], interpolation=interpolation, fill=fill
    )


# name -> function of image, magnitude, interpolation, fill
OPERATIONS = {
    "Identity": lambda img, m, mode, fill: img,
    "ShearX": lambda img, m, mode, fill: _sheared(img, m, 0.0, mode, fill),
    "ShearY": lambda img, m, mode, fill: _sheared(img, 0.0, m, mode, fill),
    "TranslateX": lambda img, m, mode, fill: _moved(img, m, 0, mode, fill),
    "TranslateY": lambda img, m, mode, fill: _moved(img, 0, m, mode, fill),
    "Rotate": lambda img, m, mode, fill: F.rotate(img, m, interpolation=mode, fill=fill),
    "Brightness": lambda img, m, mode, fill: F.adjust_brightness(img, 1.0 + m),
    "Color": lambda img, m, mode, fill: F.adjust_saturation(img, 1.0 + m),
    "Contrast": lambda img, m, mode, fill: F.adjust_contrast(img, 1.0 + m),
    "Sharpness": lambda img, m, mode, fill: F.adjust_sharpness(img, 1.0 + m),
    "Posterize": lambda img, m, mode, fill: F.posterize(img, int(m)),
    "Solarize": lambda img, m, mode, fill: F.solarize(img, m),
    "AutoContrast": lambda img, m, mode, fill: F.autocontrast(img),
    "Equalize": lambda img, m, mode, fill: F.equalize(img),
    "Invert": lambda img, m, mode, fill: F.invert(img),
}


def _space(bins, shear, far_x, far_y, angle, factor, lost_bits, bits=8):
    """{name: (magnitudes, whether they may be negative)} up to the given ends, in the order in which they are drawn."""

    def up_to(end):
        return C.linspace(0.0, end, bins), True

    kept_bits = bits - (C.arange(bins) / ((bins - 1) / lost_bits)).round().int()
    none = (C.tensor(0.0), False)
    return {
        "ShearX": up_to(shear), "ShearY": up_to(shear), "TranslateX": up_to(far_x), "TranslateY": up_to(far_y),
        "Rotate": up_to(angle), "Brightness": up_to(factor), "Color": up_to(factor), "Contrast": up_to(factor),
        "Sharpness": up_to(factor), "Posterize": (kept_bits, False), "Solarize": (C.linspace(255.0, 0.0, bins), False),
        "AutoContrast": none, "Equalize": none,
    }  # fmt: skip


IDENTITY = {"Identity": (C.tensor(0.0), False)}
PART = 150.0 / 331.0  # of the image's size: how far it is moved at most


class _Policy(nn.Module):
    def __init__(self, interpolation, fill):
        super().__init__()
        self.interpolation = interpolation
        self.fill = fill

    def _negative(self):
        """Draws the sign of a magnitude."""
        return integer(0, 2) == 1

    def _apply_op(self, img, name, magnitude):
        return OPERATIONS[name](img, magnitude, self.interpolation, fill_for(self.fill, img))

    def __repr__(self):
        shown = [f"{key}={getattr(self, key)}" for key in (*self._shown, "interpolation", "fill")]
        return f"{type(self).__name__}({', '.join(shown)})"


class AutoAugment(_Policy):
    """One of the 25 policies found for a data set."""

    _shown = ("policy",)

    def __init__(self, policy=AutoAugmentPolicy.IMAGENET, interpolation=InterpolationMode.NEAREST, fill=None):
        super().__init__(interpolation, fill)
        self.policy = policy
        self.policies = list(POLICIES[AutoAugmentPolicy(policy).value])

    @staticmethod
    def get_params(transform_num):
        policy = integer(0, transform_num)
        return policy, C.rand((2,)), C.randint(2, (2,))

    def _augmentation_space(self, num_bins, image_size):
        space = _space(num_bins, 0.3, PART * image_size[1], PART * image_size[0], 30.0, 0.9, 4)
        return {**space, "Invert": (C.tensor(0.0), False)}

    def forward(self, img):
        _, height, width = F.get_dimensions(img)
        policy, probabilities, signs = self.get_params(len(self.policies))
        space = self._augmentation_space(10, (height, width))
        for i, (name, p, magnitude_id) in enumerate(self.policies[policy]):
            if probabilities[i] <= p:
                magnitudes, signed = space[name]
                magnitude = 0.0 if magnitude_id is None else float(magnitudes[magnitude_id].item())
                img = self._apply_op(img, name, -magnitude if signed and signs[i] == 0 else magnitude)
        return img

    def __repr__(self):
        return f"{type(self).__name__}(policy={self.policy}, fill={self.fill})"


class RandAugment(_Policy):
    """A number of random operations of one magnitude."""

    _shown = ("num_ops", "magnitude", "num_magnitude_bins")

    def __init__(
        self, num_ops=2, magnitude=9, num_magnitude_bins=31, interpolation=InterpolationMode.NEAREST, fill=None
    ):
        super().__init__(interpolation, fill)
        self.num_ops = num_ops
        self.magnitude = magnitude
        self.num_magnitude_bins = num_magnitude_bins

    def _augmentation_space(self, num_bins, image_size):
        return {**IDENTITY, **_space(num_bins, 0.3, PART * image_size[1], PART * image_size[0], 30.0, 0.9, 4)}

    def forward(self, img):
        _, height, width = F.get_dimensions(img)
        space = self._augmentation_space(self.num_magnitude_bins, (height, width))
        for _ in range(self.num_ops):
            name, (magnitudes, signed) = list(space.items())[integer(0, len(space))]
            magnitude = float(magnitudes[self.magnitude].item()) if magnitudes.ndim > 0 else 0.0
            if signed and self._negative():
                magnitude *= -1.0
            img = self._apply_op(img, name, magnitude)
        return img


class TrivialAugmentWide(_Policy):
    """One random operation of a random magnitude."""

    _shown = ("num_magnitude_bins",)

    def __init__(self, num_magnitude_bins=31, interpolation=InterpolationMode.NEAREST, fill=None):
        super().__init__(interpolation, fill)
        self.num_magnitude_bins = num_magnitude_bins

    def _augmentation_space(self, num_bins):
        return {**IDENTITY, **_space(num_bins, 0.99, 32.0, 32.0, 135.0, 0.99, 6)}

    def forward(self, img):
        space = self._augmentation_space(self.num_magnitude_bins)
        name, (magnitudes, signed) = list(space.items())[integer(0, len(space))]
        magnitude = float(magnitudes[integer(0, len(magnitudes))].item()) if magnitudes.ndim > 0 else 0.0
        if signed and self._negative():
            magnitude *= -1.0
        return self._apply_op(img, name, magnitude)


class AugMix(_Policy):
    """Chains of random operations, mixed with each other and with the image."""

    _shown = ("severity", "mixture_width", "chain_depth", "alpha", "all_ops")
    _PARAMETER_MAX = 10

    def __init__(
        self, severity=3, mixture_width=3, chain_depth=-1, alpha=1.0, all_ops=True,
        interpolation=InterpolationMode.BILINEAR, fill=None,
    ):  # fmt: skip
        super().__init__(interpolation, fill)
        if not 1 <= severity <= self._PARAMETER_MAX:
            raise ValueError(f"The severity must be between [1, {self._PARAMETER_MAX}]. Got {severity} instead.")
        self.severity = severity
        self.mixture_width = mixture_width
        self.chain_depth = chain_depth
        self.alpha = alpha
        self.all_ops = all_ops

    def _augmentation_space(self, num_bins, image_size):
        space = _space(num_bins, 0.3, image_size[1] / 3.0, image_size[0] / 3.0, 30.0, 0.9, 4, bits=4)
        left_out = () if self.all_ops else ("Brightness", "Color", "Contrast", "Sharpness")
        order = ("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Posterize", "Solarize", "AutoContrast",
                 "Equalize", "Brightness", "Color", "Contrast", "Sharpness")  # fmt: skip
        return {name: space[name] for name in order if name not in left_out}

    def _sample_dirichlet(self, params):
        return C._sample_dirichlet(params)

    def _chain(self, img, space):
        depth = self.chain_depth if self.chain_depth > 0 else integer(1, 4)
        for _ in range(depth):
            name, (magnitudes, signed) = list(space.items())[integer(0, len(space))]
            magnitude = float(magnitudes[integer(0, self.severity)].item()) if magnitudes.ndim > 0 else 0.0
            if signed and self._negative():
                magnitude *= -1.0
            img = self._apply_op(img, name, magnitude)
        return img

    def forward(self, orig_img):
        _, height, width = F.get_dimensions(orig_img)
        img = orig_img if isinstance(orig_img, C.Tensor) else F.pil_to_tensor(orig_img)
        space = self._augmentation_space(self._PARAMETER_MAX, (height, width))
        batch = img.view([1] * max(4 - img.ndim, 0) + list(img.shape))
        sizes = [batch.size(0), *[1] * (batch.ndim - 1)]
        kept = self._sample_dirichlet(C.tensor([self.alpha, self.alpha]).expand(batch.size(0), -1))
        weights = self._sample_dirichlet(C.tensor([self.alpha] * self.mixture_width).expand(batch.size(0), -1))
        weights = weights * kept[:, 1].reshape([batch.size(0), -1])
        mix = kept[:, 0].reshape(sizes) * batch
        for i in range(self.mixture_width):
            mix.add_(weights[:, i].reshape(sizes) * self._chain(batch, space))
        mix = mix.view(img.shape).to(dtype=img.dtype)
        return mix if isinstance(orig_img, C.Tensor) else F.to_pil_image(mix)
