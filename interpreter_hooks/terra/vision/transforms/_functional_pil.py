"""Functions of Pillow's images."""

from .._pil import from_elements, is_pil, pil, to_elements
from . import _functional_tensor


def check_image(image):
    if not is_pil(image):
        raise TypeError(f"img should be PIL Image. Got {type(image)}")


def get_image_num_channels(image):
    check_image(image)
    return len(image.getbands())


def get_dimensions(image):
    width, height = get_image_size(image)
    return [get_image_num_channels(image), height, width]


def get_image_size(image):
    check_image(image)
    return list(image.size)


def fill_of(fill, image):
    """A fill value as Pillow wants it: a number, or a tuple of one number per channel."""
    channels = get_image_num_channels(image)
    fill = 0 if fill is None else fill
    if isinstance(fill, (int, float)) and channels > 1:
        fill = (fill,) * channels
    if isinstance(fill, (list, tuple)):
        fill = tuple(fill) * channels if len(fill) == 1 and channels > 1 else tuple(fill)
        if len(fill) != channels:
            raise ValueError(
                "The number of elements in 'fill' does not match the number of channels of the image "
                f"({len(fill)} != {channels})"
            )
        fill = fill[0] if channels == 1 else fill
    if image.mode == "F":
        return fill
    return tuple(map(int, fill)) if isinstance(fill, tuple) else int(fill)


def hflip(image):
    check_image(image)
    return image.transpose(pil().FLIP_LEFT_RIGHT)


def vflip(image):
    check_image(image)
    return image.transpose(pil().FLIP_TOP_BOTTOM)


def crop(image, top, left, height, width):
    check_image(image)
    return image.crop((left, top, left + width, top + height))


def pad(image, border, fill=0, mode="constant"):
    check_image(image)
    left, top, right, bottom = border
    if mode == "constant":
        fill = fill_of(fill, image) if fill != 0 or image.mode != "P" else 0
        padded = pil("ImageOps").expand(image, border=(left, top, right, bottom), fill=fill)
        if image.mode == "P":
            padded.putpalette(image.getpalette())
        return padded
    elements = to_elements(image).permute(2, 0, 1)
    padded = from_elements(_functional_tensor.pad(elements, border, mode=mode).permute(1, 2, 0), image.mode)
    if image.mode == "P":
        padded.putpalette(image.getpalette())
    return padded


def resize(image, size, interpolation):
    check_image(image)
    height, width = size
    return image.resize((width, height), interpolation)


def affine(image, matrix, interpolation=0, fill=None):
    check_image(image)
    return image.transform(image.size, pil().AFFINE, matrix, interpolation, fillcolor=fill_of(fill, image))


def rotate(image, angle, interpolation=0, expand=False, center=None, fill=None):
    check_image(image)
    return image.rotate(angle, interpolation, expand, center, fillcolor=fill_of(fill, image))


def perspective(image, coefficients, interpolation=3, fill=None):
    check_image(image)
    return image.transform(image.size, pil().PERSPECTIVE, coefficients, interpolation, fillcolor=fill_of(fill, image))


def _enhanced(kind, image, factor):
    check_image(image)
    return getattr(pil("ImageEnhance"), kind)(image).enhance(factor)


def adjust_brightness(image, brightness_factor):
    return _enhanced("Brightness", image, brightness_factor)


def adjust_contrast(image, contrast_factor):
    return _enhanced("Contrast", image, contrast_factor)


def adjust_saturation(image, saturation_factor):
    return _enhanced("Color", image, saturation_factor)


def adjust_sharpness(image, sharpness_factor):
    return _enhanced("Sharpness", image, sharpness_factor)


def adjust_hue(image, hue_factor):
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    check_image(image)
    if image.mode in ("L", "1", "I", "F"):
        return image
    hue, saturation, value = image.convert("HSV").split()
    shift = int(hue_factor * 255)
    hue = hue.point([(v + shift) & 255 for v in range(256)])
    return pil().merge("HSV", (hue, saturation, value)).convert(image.mode)


def adjust_gamma(image, gamma, gain=1):
    check_image(image)
    if gamma < 0:
        raise ValueError("Gamma should be a non-negative real number")
    table = [int((255 + 1 - 1e-3) * gain * pow(v / 255.0, gamma)) for v in range(256)] * 3
    return image.convert("RGB").point(table).convert(image.mode)


def to_grayscale(image, num_output_channels):
    check_image(image)
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    gray = image.convert("L")
    return gray if num_output_channels == 1 else pil().merge("RGB", (gray, gray, gray))


def invert(image):
    check_image(image)
    return pil("ImageOps").invert(image)


def posterize(image, bits):
    check_image(image)
    return pil("ImageOps").posterize(image, bits)


def solarize(image, threshold):
    check_image(image)
    return pil("ImageOps").solarize(image, threshold)


def autocontrast(image):
    check_image(image)
    return pil("ImageOps").autocontrast(image)


def equalize(image):
    check_image(image)
    return pil("ImageOps").equalize(image)
