"""Transforms of colors."""

import numbers

import _terra_C as C

from ... import nn
from . import functional as F
from ._random import Probable, uniform

__all__ = [
    "ColorJitter", "GaussianBlur", "Grayscale", "RandomAdjustSharpness", "RandomAutocontrast", "RandomEqualize",
    "RandomGrayscale", "RandomInvert", "RandomPosterize", "RandomSolarize",
]  # fmt: skip


class ColorJitter(nn.Module):
    """Brightness, contrast, saturation and hue changed by random factors, in random order."""

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        self.brightness = self._check_input(brightness, "brightness")
        self.contrast = self._check_input(contrast, "contrast")
        self.saturation = self._check_input(saturation, "saturation")
        self.hue = self._check_input(hue, "hue", center=0, bound=(-0.5, 0.5), clip_first_on_zero=False)

    @staticmethod
    def _check_input(value, name, center=1, bound=(0, float("inf")), clip_first_on_zero=True):
        """The range of a factor, or None where it changes nothing."""
        if isinstance(value, numbers.Number):
            if value < 0:
                raise ValueError(f"If {name} is a single number, it must be non negative.")
            value = [center - float(value), center + float(value)]
            if clip_first_on_zero:
                value[0] = max(value[0], 0.0)
        elif isinstance(value, (tuple, list)) and len(value) == 2:
            value = [float(value[0]), float(value[1])]
        else:
            raise TypeError(f"{name} should be a single number or a list/tuple with length 2.")
        if not bound[0] <= value[0] <= value[1] <= bound[1]:
            raise ValueError(f"{name} values should be between {bound}, but got {value}.")
        return None if value[0] == value[1] == center else tuple(value)

    @staticmethod
    def get_params(brightness, contrast, saturation, hue):
        order = C.randperm(4)
        ranges = (brightness, contrast, saturation, hue)
        return (order, *[None if bounds is None else uniform(bounds[0], bounds[1]) for bounds in ranges])

    def forward(self, img):
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        changes = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)
        for i in order.tolist():
            if factors[i] is not None:
                img = changes[i](img, factors[i])
        return img

    def __repr__(self):
        return (
            f"{type(self).__name__}(brightness={self.brightness}, contrast={self.contrast}, "
            f"saturation={self.saturation}, hue={self.hue})"
        )


class Grayscale(nn.Module):
    def __init__(self, num_output_channels=1):
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img):
        return F.rgb_to_grayscale(img, num_output_channels=self.num_output_channels)

    def __repr__(self):
        return f"{type(self).__name__}(num_output_channels={self.num_output_channels})"


class RandomGrayscale(Probable):
    """Gray, with as many channels as before."""

    def __init__(self, p=0.1):
        super().__init__(p)

    def changed(self, img):
        return F.rgb_to_grayscale(img, num_output_channels=F.get_dimensions(img)[0])


class GaussianBlur(nn.Module):
    """Smoothed by a Gaussian whose deviation is drawn from `sigma`."""

    def __init__(self, kernel_size, sigma=(0.1, 2.0)):
        super().__init__()
        self.kernel_size = (kernel_size, kernel_size) if isinstance(kernel_size, int) else tuple(kernel_size)
        if len(self.kernel_size) != 2:
            raise ValueError("Kernel size should be a tuple/list of two integers")
        if any(size <= 0 or size % 2 == 0 for size in self.kernel_size):
            raise ValueError("Kernel size value should be an odd and positive number.")
        if isinstance(sigma, numbers.Number):
            if sigma <= 0:
                raise ValueError("If sigma is a single number, it must be positive.")
            sigma = (sigma, sigma)
        elif isinstance(sigma, (tuple, list)) and len(sigma) == 2:
            if not 0.0 < sigma[0] <= sigma[1]:
                raise ValueError(f"sigma values should be positive and of the form (min, max). Got {sigma}")
        else:
            raise ValueError("sigma should be a single number or a list/tuple with length 2.")
        self.sigma = sigma

    @staticmethod
    def get_params(sigma_min, sigma_max):
        return uniform(sigma_min, sigma_max)

    def forward(self, img):
        sigma = self.get_params(self.sigma[0], self.sigma[1])
        return F.gaussian_blur(img, self.kernel_size, [sigma, sigma])

    def __repr__(self):
        return f"{type(self).__name__}(kernel_size={self.kernel_size}, sigma={self.sigma})"


class RandomInvert(Probable):
    def changed(self, img):
        return F.invert(img)


class RandomPosterize(Probable):
    def __init__(self, bits, p=0.5):
        super().__init__(p)
        self.bits = bits

    def changed(self, img):
        return F.posterize(img, self.bits)

    def __repr__(self):
        return f"{type(self).__name__}(bits={self.bits},p={self.p})"


class RandomSolarize(Probable):
    def __init__(self, threshold, p=0.5):
        super().__init__(p)
        self.threshold = threshold

    def changed(self, img):
        return F.solarize(img, self.threshold)

    def __repr__(self):
        return f"{type(self).__name__}(threshold={self.threshold},p={self.p})"


class RandomAdjustSharpness(Probable):
    def __init__(self, sharpness_factor, p=0.5):
        super().__init__(p)
        self.sharpness_factor = sharpness_factor

    def changed(self, img):
        return F.adjust_sharpness(img, self.sharpness_factor)

    def __repr__(self):
        return f"{type(self).__name__}(sharpness_factor={self.sharpness_factor},p={self.p})"


class RandomAutocontrast(Probable):
    def changed(self, img):
        return F.autocontrast(img)


class RandomEqualize(Probable):
    def changed(self, img):
        return F.equalize(img)
