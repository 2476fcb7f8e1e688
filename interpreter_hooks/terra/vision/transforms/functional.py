"""Functions of images, which are Pillow's or tensors [..., channels, height, width]."""

import math
import numbers
import warnings

import _terra_C as C

from .._pil import is_pil
from . import _functional_pil, _functional_tensor, _resample
from ._interpolation import InterpolationMode, mode_of, pil_modes_mapping
from ._kinds import convert_image_dtype, pil_to_tensor, to_pil_image, to_tensor

__all__ = [
    "InterpolationMode", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation",
    "adjust_sharpness", "affine", "autocontrast", "center_crop", "convert_image_dtype", "crop", "elastic_transform",
    "equalize", "erase", "five_crop", "gaussian_blur", "get_dimensions", "get_image_num_channels", "get_image_size",
    "hflip", "invert", "normalize", "pad", "perspective", "pil_modes_mapping", "pil_to_tensor", "posterize", "resize",
    "resized_crop", "rgb_to_grayscale", "rotate", "solarize", "ten_crop", "to_grayscale", "to_pil_image", "to_tensor",
    "vflip",
]  # fmt: skip


def _of(image):
    """The functions for this kind of image."""
    return _functional_tensor if isinstance(image, C.Tensor) else _functional_pil


def get_dimensions(img):
    """[channels, height, width]."""
    return _of(img).get_dimensions(img)


def get_image_size(img):
    """[width, height]."""
    return _of(img).get_image_size(img)


def get_image_num_channels(img):
    return _of(img).get_image_num_channels(img)


# Sizes, cuts, borders, flips.


def _resized_size(height, width, size, max_size):
    """[height, width] by both sizes, or by that of the shorter side."""
    if len(size) == 2:
        return list(size)
    short, long = (width, height) if width <= height else (height, width)
    new_short, new_long = size[0], int(size[0] * long / short)
    if max_size is not None:
        if max_size <= size[0]:
            raise ValueError(
                f"max_size = {max_size} must be strictly greater than the requested size for the smaller edge size "
                f"= {size[0]}"
            )
        if new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return [new_long, new_short] if width <= height else [new_short, new_long]


def resize(img, size, interpolation=InterpolationMode.BILINEAR, max_size=None, antialias=True):
    mode = mode_of(interpolation)
    size = list(size) if isinstance(size, (list, tuple)) else [size]
    if len(size) not in (1, 2):
        raise ValueError(f"Size must be an int or a 1 or 2 element tuple/list, not a {len(size)} element tuple/list")
    if max_size is not None and len(size) != 1:
        raise ValueError(
            "max_size should only be passed if size specifies the length of the smaller edge, i.e. size should be "
            "an int "
            "or a sequence of length 1 in torchscript mode."
        )
    _, height, width = get_dimensions(img)
    wanted = _resized_size(height, width, size, max_size)
    if [height, width] == wanted:
        return img
    if not isinstance(img, C.Tensor):
        if antialias is False:
            warnings.warn(
                "Anti-alias option is always applied for PIL Image input. Argument antialias is ignored.", stacklevel=2
            )
        return _functional_pil.resize(img, wanted, pil_modes_mapping[mode])
    if mode.value not in ("nearest", "nearest-exact", "bilinear", "bicubic"):
        raise NotImplementedError(f"This interpolation mode is unsupported with Tensor input: {mode.value}")
    return _resample.resize(img, wanted, mode.value, antialias is not False)


def pad(img, padding, fill=0, padding_mode="constant"):
    """Borders of `padding`: of all sides, of (left and right, top and bottom), of (left, top, right, bottom)."""
    if not isinstance(padding, (numbers.Number, tuple, list)):
        raise TypeError("Got inappropriate padding arg")
    if not isinstance(fill, (numbers.Number, tuple, list)) and fill is not None:
        raise TypeError("Got inappropriate fill arg")
    if not isinstance(padding_mode, str):
        raise TypeError("Got inappropriate padding_mode arg")
    border = [padding] if isinstance(padding, numbers.Number) else list(padding)
    if len(border) not in (1, 2, 4):
        raise ValueError(f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(border)} element tuple")
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    return _of(img).pad(img, border * (4 // len(border)), fill, padding_mode)


def crop(img, top, left, height, width):
    return _of(img).crop(img, top, left, height, width)


def _pair(size):
    if isinstance(size, numbers.Number):
        return int(size), int(size)
    return (size[0], size[0]) if len(size) == 1 else (size[0], size[1])


def center_crop(img, output_size):
    """The middle, with zeros around the image where it is too small."""
    rows, columns = _pair(output_size)
    _, height, width = get_dimensions(img)
    if columns > width or rows > height:
        extra_x, extra_y = max(columns - width, 0), max(rows - height, 0)
        img = pad(img, [extra_x // 2, extra_y // 2, (extra_x + 1) // 2, (extra_y + 1) // 2], fill=0)
        _, height, width = get_dimensions(img)
        if columns == width and rows == height:
            return img
    top, left = int(round((height - rows) / 2.0)), int(round((width - columns) / 2.0))
    return crop(img, top, left, rows, columns)


def resized_crop(img, top, left, height, width, size, interpolation=InterpolationMode.BILINEAR, antialias=True):
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def hflip(img):
    return _of(img).hflip(img)


def vflip(img):
    return _of(img).vflip(img)


def five_crop(img, size):
    """The four corners and the middle."""
    if not isinstance(size, numbers.Number) and len(size) > 2:
        raise ValueError("Please provide only two dimensions (h, w) for size.")
    h, w = _pair(size)
    _, height, width = get_dimensions(img)
    if w > width or h > height:
        raise ValueError(f"Requested crop size {(h, w)} is bigger than input size {(height, width)}")
    corners = [crop(img, top, left, h, w) for top in (0, height - h) for left in (0, width - w)]
    return (*corners, center_crop(img, [h, w]))


def ten_crop(img, size, vertical_flip=False):
    """five_crop of the image and of its mirror image."""
    return five_crop(img, size) + five_crop(vflip(img) if vertical_flip else hflip(img), size)


# Positions.


def _inverse_affine(center, angle, translate, scale, shear):
    """The first two rows of the matrix from new positions to old ones, where a turn, shears, a scale and a translation
    happen around `center`."""
    turn, shear_x, shear_y = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -math.cos(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) - math.sin(turn)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = -math.sin(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) + math.cos(turn)
    matrix = [x / scale for x in (d, -b, 0.0, -c, a, 0.0)]
    x, y = -center[0] - translate[0], -center[1] - translate[1]
    matrix[2] += matrix[0] * x + matrix[1] * y + center[0]
    matrix[5] += matrix[3] * x + matrix[4] * y + center[1]
    return matrix


def _from_middle(img, center):
    """A position in the image, seen from its middle."""
    width, height = get_image_size(img)
    return [0.0, 0.0] if center is None else [c - size * 0.5 for c, size in zip(center, (width, height))]


def _checked_center(center):
    if center is not None and not isinstance(center, (list, tuple)):
        raise TypeError("Argument center should be a sequence")
    return center


def rotate(img, angle, interpolation=InterpolationMode.NEAREST, expand=False, center=None, fill=None):
    """Turned by `angle` degrees against the clock."""
    mode = mode_of(interpolation)
    if not isinstance(angle, (int, float)):
        raise TypeError("Argument angle should be int or float")
    _checked_center(center)
    if not isinstance(img, C.Tensor):
        return _functional_pil.rotate(img, angle, pil_modes_mapping[mode], expand, center, fill)
    matrix = _inverse_affine(_from_middle(img, center), -angle, [0.0, 0.0], 1.0, [0.0, 0.0])
    return _resample.rotate(img, matrix, mode.value, expand, fill)


def affine(img, angle, translate, scale, shear, interpolation=InterpolationMode.NEAREST, fill=None, center=None):
    """Turned with the clock, sheared (degrees in x and y), scaled, moved (pixels)."""
    mode = mode_of(interpolation)
    if not isinstance(angle, (int, float)):
        raise TypeError("Argument angle should be int or float")
    if not isinstance(translate, (list, tuple)):
        raise TypeError("Argument translate should be a sequence")
    if len(translate) != 2:
        raise ValueError("Argument translate should be a sequence of length 2")
    if scale <= 0.0:
        raise ValueError("Argument scale should be positive")
    if not isinstance(shear, (numbers.Number, list, tuple)):
        raise TypeError("Shear should be either a single value or a sequence of two values")
    shear = [shear, 0.0] if isinstance(shear, numbers.Number) else list(shear)
    shear = [shear[0], shear[0]] if len(shear) == 1 else shear
    if len(shear) != 2:
        raise ValueError(f"Shear should be a sequence containing two values. Got {shear}")
    _checked_center(center)
    if not isinstance(img, C.Tensor):
        width, height = get_image_size(img)
        middle = [width * 0.5, height * 0.5] if center is None else center
        matrix = _inverse_affine(middle, angle, translate, scale, shear)
        return _functional_pil.affine(img, matrix, pil_modes_mapping[mode], fill)
    matrix = _inverse_affine(_from_middle(img, center), angle, [float(t) for t in translate], scale, shear)
    return _resample.affine(img, matrix, mode.value, fill)


def _solved(rows):
    """The solution of linear equations, each row with its right side last (Gauss, largest pivots)."""
    n = len(rows)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        if rows[pivot][i] == 0.0:
            raise ValueError("perspective: no three of the four points may lie on one line")
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(n):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[i])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def _get_perspective_coeffs(startpoints, endpoints):
    """The eight numbers of the map (x, y) -> ((ax + by + c) / (gx + hy + 1), (dx + ey + f) / (gx + hy + 1)) that takes
    the end points to the start points, in single precision."""
    if len(startpoints) != 4 or len(endpoints) != 4:
        raise ValueError(
            f"Please provide exactly four corners, got {len(startpoints)} startpoints and {len(endpoints)} endpoints."
        )
    rows = []
    for (x, y), (u, v) in zip(endpoints, startpoints):
        rows.append([float(n) for n in (x, y, 1, 0, 0, 0, -u * x, -u * y, u)])
        rows.append([float(n) for n in (0, 0, 0, x, y, 1, -v * x, -v * y, v)])
    return C.tensor(_solved(rows), dtype=C.float64).to(C.float32).tolist()


def perspective(img, startpoints, endpoints, interpolation=InterpolationMode.BILINEAR, fill=None):
    """Seen so that the four start points get to the end points."""
    mode = mode_of(interpolation)
    coefficients = _get_perspective_coeffs(startpoints, endpoints)
    if not isinstance(img, C.Tensor):
        return _functional_pil.perspective(img, coefficients, pil_modes_mapping[mode], fill)
    return _resample.perspective(img, coefficients, mode.value, fill)


def _as_tensors(img, function):
    """What a function of tensors makes of the image, of whichever kind it is."""
    if isinstance(img, C.Tensor):
        return function(img)
    if not is_pil(img):
        raise TypeError(f"img should be PIL Image or Tensor. Got {type(img)}")
    return to_pil_image(function(pil_to_tensor(img)), mode=img.mode)


def elastic_transform(img, displacement, interpolation=InterpolationMode.BILINEAR, fill=None):
    """Each pixel is taken from where `displacement` [1, height, width, 2] says, in half sizes of the image."""
    mode = mode_of(interpolation)
    if not isinstance(displacement, C.Tensor):
        raise TypeError("Argument displacement should be a Tensor")
    _, height, width = get_dimensions(img)
    expected = (1, height, width, 2)
    if tuple(displacement.shape) != expected:
        raise ValueError(f"Argument displacement expected shape is {expected}, but given {list(displacement.shape)}")
    return _as_tensors(img, lambda image: _resample.elastic_transform(image, displacement, mode.value, fill))


def gaussian_blur(img, kernel_size, sigma=None):
    """Smoothed by a Gaussian of deviation `sigma`, both sizes as (x, y)."""
    if not isinstance(kernel_size, (int, list, tuple)):
        raise TypeError(f"kernel_size should be int or a sequence of integers. Got {type(kernel_size)}")
    kernel_size = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size)
    if len(kernel_size) != 2:
        raise ValueError(f"If kernel_size is a sequence its length should be 2. Got {len(kernel_size)}")
    for size in kernel_size:
        if size % 2 == 0 or size < 0:
            raise ValueError(f"kernel_size should have odd and positive integers. Got {kernel_size}")
    if sigma is None:
        sigma = [size * 0.15 + 0.35 for size in kernel_size]
    if not isinstance(sigma, (int, float, list, tuple)):
        raise TypeError(f"sigma should be either float or sequence of floats. Got {type(sigma)}")
    sigma = [float(sigma)] * 2 if isinstance(sigma, (int, float)) else list(sigma)
    sigma = sigma * 2 if len(sigma) == 1 else sigma
    if len(sigma) != 2:
        raise ValueError(f"If sigma is a sequence, its length should be 2. Got {len(sigma)}")
    for s in sigma:
        if s <= 0.0:
            raise ValueError(f"sigma should have positive values. Got {sigma}")
    return _as_tensors(img, lambda image: _resample.gaussian_blur(image, kernel_size, sigma))


# Colors.


def adjust_brightness(img, brightness_factor):
    return _of(img).adjust_brightness(img, brightness_factor)


def adjust_contrast(img, contrast_factor):
    return _of(img).adjust_contrast(img, contrast_factor)


def adjust_saturation(img, saturation_factor):
    return _of(img).adjust_saturation(img, saturation_factor)


def adjust_hue(img, hue_factor):
    return _of(img).adjust_hue(img, hue_factor)


def adjust_gamma(img, gamma, gain=1):
    return _of(img).adjust_gamma(img, gamma, gain)


def adjust_sharpness(img, sharpness_factor):
    return _of(img).adjust_sharpness(img, sharpness_factor)


def to_grayscale(img, num_output_channels=1):
    """Of Pillow's images; rgb_to_grayscale knows both kinds."""
    if not is_pil(img):
        raise TypeError("Input should be PIL Image")
    return _functional_pil.to_grayscale(img, num_output_channels)


def rgb_to_grayscale(img, num_output_channels=1):
    if isinstance(img, C.Tensor):
        return _functional_tensor.rgb_to_grayscale(img, num_output_channels)
    return _functional_pil.to_grayscale(img, num_output_channels)


def invert(img):
    return _of(img).invert(img)


def posterize(img, bits):
    """The highest `bits` bits of each value."""
    if not 0 <= bits <= 8:
        raise ValueError(f"The number if bits should be between 0 and 8. Got {bits}")
    return _of(img).posterize(img, bits)


def solarize(img, threshold):
    """Values from the threshold on inverted."""
    return _of(img).solarize(img, threshold)


def autocontrast(img):
    return _of(img).autocontrast(img)


def equalize(img):
    return _of(img).equalize(img)


def _only_tensors(img):
    if not isinstance(img, C.Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(img)}")


def normalize(tensor, mean, std, inplace=False):
    """(tensor - mean) / std per channel."""
    _only_tensors(tensor)
    return _functional_tensor.normalize(tensor, mean, std, inplace)


def erase(img, i, j, h, w, v, inplace=False):
    """The window of h x w at (i, j) overwritten by v."""
    _only_tensors(img)
    return _functional_tensor.erase(img, i, j, h, w, v, inplace)
