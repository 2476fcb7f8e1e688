"""Transforms that move pixels."""

import math
import numbers
import warnings

import _terra_C as C

from ... import nn
from . import functional as F
from ._interpolation import mode_of
from ._random import Probable, angles_of, checked_fill, fill_for, integer, pair_of, uniform

__all__ = [
    "CenterCrop", "ElasticTransform", "FiveCrop", "Pad", "RandomAffine", "RandomCrop", "RandomHorizontalFlip",
    "RandomPerspective", "RandomResizedCrop", "RandomRotation", "RandomVerticalFlip", "Resize", "TenCrop",
]  # fmt: skip

Mode = F.InterpolationMode


class Resize(nn.Module):
    def __init__(self, size, interpolation=Mode.BILINEAR, max_size=None, antialias=True):
        super().__init__()
        if not isinstance(size, (int, list, tuple)):
            raise TypeError(f"Size should be int or sequence. Got {type(size)}")
        if isinstance(size, (list, tuple)) and len(size) not in (1, 2):
            raise ValueError("If size is a sequence, it should have 1 or 2 values")
        self.size = size
        self.max_size = max_size
        self.interpolation = mode_of(interpolation)
        self.antialias = antialias

    def forward(self, img):
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self):
        return (
            f"{type(self).__name__}(size={self.size}, interpolation={self.interpolation.value}, "
            f"max_size={self.max_size}, antialias={self.antialias})"
        )


class _Cropping(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = pair_of(size, "Please provide only two dimensions (h, w) for size.")

    def __repr__(self):
        return f"{type(self).__name__}(size={self.size})"


class CenterCrop(_Cropping):
    def forward(self, img):
        return F.center_crop(img, self.size)


class Pad(nn.Module):
    def __init__(self, padding, fill=0, padding_mode="constant"):
        super().__init__()
        if not isinstance(padding, (numbers.Number, tuple, list)):
            raise TypeError("Got inappropriate padding arg")
        if not isinstance(fill, (numbers.Number, str, tuple, list)):
            raise TypeError("Got inappropriate fill arg")
        if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
            raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
        if isinstance(padding, (tuple, list)) and len(padding) not in (1, 2, 4):
            raise ValueError(
                f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(padding)} element tuple"
            )
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def forward(self, img):
        return F.pad(img, self.padding, self.fill, self.padding_mode)

    def __repr__(self):
        return f"{type(self).__name__}(padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode})"


class RandomCrop(nn.Module):
    """A window at a random place, after padding."""

    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        super().__init__()
        self.size = tuple(pair_of(size, "Please provide only two dimensions (h, w) for size."))
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    @staticmethod
    def get_params(img, output_size):
        _, height, width = F.get_dimensions(img)
        h, w = output_size
        if height < h or width < w:
            raise ValueError(f"Required crop size {(h, w)} is larger than input image size {(height, width)}")
        if width == w and height == h:
            return 0, 0, h, w
        top = integer(0, height - h + 1)
        return top, integer(0, width - w + 1), h, w

    def forward(self, img):
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        if self.pad_if_needed:
            for side, axis in ((1, 2), (0, 1)):
                lacking = self.size[side] - F.get_dimensions(img)[axis]
                if lacking > 0:
                    img = F.pad(img, [lacking, 0] if side else [0, lacking], self.fill, self.padding_mode)
        return F.crop(img, *self.get_params(img, self.size))

    def __repr__(self):
        return f"{type(self).__name__}(size={self.size}, padding={self.padding})"


class RandomHorizontalFlip(Probable):
    def changed(self, img):
        return F.hflip(img)


class RandomVerticalFlip(Probable):
    def changed(self, img):
        return F.vflip(img)


class RandomResizedCrop(nn.Module):
    """A window of random area and proportions, resized."""

    def __init__(
        self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation=Mode.BILINEAR, antialias=True
    ):
        super().__init__()
        self.size = pair_of(size, "Please provide only two dimensions (h, w) for size.")
        if not isinstance(scale, (list, tuple)):
            raise TypeError("Scale should be a sequence")
        if not isinstance(ratio, (list, tuple)):
            raise TypeError("Ratio should be a sequence")
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            warnings.warn("Scale and ratio should be of kind (min, max)", stacklevel=2)
        self.interpolation = mode_of(interpolation)
        self.antialias = antialias
        self.scale = scale
        self.ratio = ratio

    @staticmethod
    def get_params(img, scale, ratio):
        """Place and size of the window; of one in the middle where ten draws gave none that fits."""
        _, height, width = F.get_dimensions(img)
        area = height * width
        low, high = C.log(C.tensor(ratio)).tolist()
        for _ in range(10):
            target = area * uniform(scale[0], scale[1])
            aspect = C.exp(C.empty(1).uniform_(low, high)).item()
            w, h = int(round(math.sqrt(target * aspect))), int(round(math.sqrt(target / aspect)))
            if 0 < w <= width and 0 < h <= height:
                top = integer(0, height - h + 1)
                return top, integer(0, width - w + 1), h, w
        proportion = float(width) / float(height)
        w, h = width, height
        if proportion < min(ratio):
            h = int(round(w / min(ratio)))
        elif proportion > max(ratio):
            w = int(round(h * max(ratio)))
        return (height - h) // 2, (width - w) // 2, h, w

    def forward(self, img):
        window = self.get_params(img, self.scale, self.ratio)
        return F.resized_crop(img, *window, self.size, self.interpolation, antialias=self.antialias)

    def __repr__(self):
        scale, ratio = tuple(round(s, 4) for s in self.scale), tuple(round(r, 4) for r in self.ratio)
        return (
            f"{type(self).__name__}(size={self.size}, scale={scale}, ratio={ratio}, "
            f"interpolation={self.interpolation.value}, antialias={self.antialias})"
        )


class FiveCrop(_Cropping):
    """The four corners and the middle."""

    def forward(self, img):
        return F.five_crop(img, self.size)


class TenCrop(nn.Module):
    """FiveCrop of the image and of its mirror image."""

    def __init__(self, size, vertical_flip=False):
        super().__init__()
        self.size = pair_of(size, "Please provide only two dimensions (h, w) for size.")
        self.vertical_flip = vertical_flip

    def forward(self, img):
        return F.ten_crop(img, self.size, self.vertical_flip)

    def __repr__(self):
        return f"{type(self).__name__}(size={self.size}, vertical_flip={self.vertical_flip})"


class RandomRotation(nn.Module):
    def __init__(self, degrees, interpolation=Mode.NEAREST, expand=False, center=None, fill=0):
        super().__init__()
        self.degrees = angles_of(degrees, "degrees")
        if center is not None and len(center) != 2:
            raise ValueError("center should be a sequence of length 2.")
        self.center = center
        self.interpolation = mode_of(interpolation)
        self.expand = expand
        self.fill = checked_fill(fill)

    @staticmethod
    def get_params(degrees):
        return uniform(degrees[0], degrees[1])

    def forward(self, img):
        angle = self.get_params(self.degrees)
        return F.rotate(img, angle, self.interpolation, self.expand, self.center, fill_for(self.fill, img))

    def __repr__(self):
        text = f"{type(self).__name__}(degrees={self.degrees}, interpolation={self.interpolation.value}"
        text += f", expand={self.expand}"
        text += "" if self.center is None else f", center={self.center}"
        return text + ("" if self.fill is None else f", fill={self.fill}") + ")"


class RandomAffine(nn.Module):
    """Turned, moved by parts of the size, scaled and sheared at random."""

    def __init__(
        self, degrees, translate=None, scale=None, shear=None, interpolation=Mode.NEAREST, fill=0, center=None
    ):
        super().__init__()
        self.degrees = angles_of(degrees, "degrees")
        if translate is not None:
            if len(translate) != 2:
                raise ValueError("translate should be a sequence of length 2.")
            if any(not 0.0 <= t <= 1.0 for t in translate):
                raise ValueError("translation values should be between 0 and 1")
        if scale is not None:
            if len(scale) != 2:
                raise ValueError("scale should be a sequence of length 2.")
            if any(s <= 0 for s in scale):
                raise ValueError("scale values should be positive")
        if center is not None and len(center) != 2:
            raise ValueError("center should be a sequence of length 2.")
        self.translate = translate
        self.scale = scale
        self.shear = None if shear is None else angles_of(shear, "shear", (2, 4))
        self.interpolation = mode_of(interpolation)
        self.fill = checked_fill(fill)
        self.center = center

    @staticmethod
    def get_params(degrees, translate, scale_ranges, shears, img_size):
        angle = uniform(degrees[0], degrees[1])
        moved = (0, 0)
        if translate is not None:
            far_x, far_y = float(translate[0] * img_size[0]), float(translate[1] * img_size[1])
            moved_x = int(round(uniform(-far_x, far_x)))
            moved = (moved_x, int(round(uniform(-far_y, far_y))))
        scale = 1.0 if scale_ranges is None else uniform(scale_ranges[0], scale_ranges[1])
        shear_x = shear_y = 0.0
        if shears is not None:
            shear_x = uniform(shears[0], shears[1])
            shear_y = uniform(shears[2], shears[3]) if len(shears) == 4 else 0.0
        return angle, moved, scale, (shear_x, shear_y)

    def forward(self, img):
        _, height, width = F.get_dimensions(img)
        drawn = self.get_params(self.degrees, self.translate, self.scale, self.shear, [width, height])
        return F.affine(
            img, *drawn, interpolation=self.interpolation, fill=fill_for(self.fill, img), center=self.center
        )

    def __repr__(self):
        text = f"{type(self).__name__}(degrees={self.degrees}"
        for name in ("translate", "scale", "shear"):
            text += "" if getattr(self, name) is None else f", {name}={getattr(self, name)}"
        text += "" if self.interpolation == Mode.NEAREST else f", interpolation={self.interpolation.value}"
        text += "" if self.fill == 0 else f", fill={self.fill}"
        return text + ("" if self.center is None else f", center={self.center}") + ")"


class RandomPerspective(Probable):
    """The corners moved inwards at random."""

    def __init__(self, distortion_scale=0.5, p=0.5, interpolation=Mode.BILINEAR, fill=0):
        super().__init__(p)
        self.interpolation = mode_of(interpolation)
        self.distortion_scale = distortion_scale
        self.fill = checked_fill(fill)

    def changed(self, img):
        _, height, width = F.get_dimensions(img)
        start, end = self.get_params(width, height, self.distortion_scale)
        return F.perspective(img, start, end, self.interpolation, fill_for(self.fill, img))

    @staticmethod
    def get_params(width, height, distortion_scale):
        """The corners, and where they go, clockwise from the left upper one."""
        x, y = int(distortion_scale * (width // 2)), int(distortion_scale * (height // 2))
        left, right = (0, x + 1), (width - x - 1, width)
        top, bottom = (0, y + 1), (height - y - 1, height)
        end = []
        for columns, rows in ((left, top), (right, top), (right, bottom), (left, bottom)):
            column = integer(*columns)
            end.append([column, integer(*rows)])
        return [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]], end


class ElasticTransform(nn.Module):
    """Pixels moved by smoothed noise of strength alpha."""

    def __init__(self, alpha=50.0, sigma=5.0, interpolation=Mode.BILINEAR, fill=0):
        super().__init__()
        self.alpha = self._two_floats(alpha, "alpha")
        self.sigma = self._two_floats(sigma, "sigma")
        self.interpolation = mode_of(interpolation)
        self.fill = [float(fill)] if isinstance(fill, (int, float)) else [float(f) for f in fill]

    @staticmethod
    def _two_floats(value, name):
        if not isinstance(value, (float, list, tuple)):
            raise TypeError(f"{name} should be float or a sequence of floats. Got {type(value)}")
        value = [value] if isinstance(value, float) else list(value)
        if len(value) not in (1, 2):
            raise ValueError(f"{name} is a sequence its length should be one of 2. Got {len(value)}")
        for element in value:
            if not isinstance(element, float):
                raise TypeError(f"{name} should be a sequence of floats. Got {type(element)}")
        return value * 2 if len(value) == 1 else value

    @staticmethod
    def get_params(alpha, sigma, size):
        """The displacement: [1, height, width, 2]."""
        parts = []
        for strength, deviation, extent in zip(alpha, sigma, reversed(size)):
            noise = C.rand([1, 1, *size]) * 2 - 1
            if deviation > 0.0:
                kernel = int(8 * deviation + 1) | 1
                noise = F.gaussian_blur(noise, [kernel, kernel], sigma)
            parts.append(noise * strength / extent)
        return C.concat(parts, 1).permute([0, 2, 3, 1])

    def forward(self, tensor):
        _, height, width = F.get_dimensions(tensor)
        displacement = self.get_params(self.alpha, self.sigma, [height, width])
        return F.elastic_transform(tensor, displacement, self.interpolation, self.fill)

    def __repr__(self):
        return (
            f"{type(self).__name__}(alpha={self.alpha}, sigma={self.sigma}, interpolation={self.interpolation}, "
            f"fill={self.fill})"
        )
