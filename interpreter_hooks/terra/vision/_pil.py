"""Pillow, which reads, writes and draws images, and the way between its images and tensors.

It is optional: only what needs it asks for it."""

import ctypes
import sys

import _terra_C as C

# mode -> (dtype, channels) of the bytes of such an image
LAYOUTS = {
    "1": (C.bool, 1), "L": (C.uint8, 1), "P": (C.uint8, 1), "LA": (C.uint8, 2), "PA": (C.uint8, 2), "RGB": (C.uint8, 3),
    "YCbCr": (C.uint8, 3), "HSV": (C.uint8, 3), "LAB": (C.uint8, 3), "RGBA": (C.uint8, 4), "CMYK": (C.uint8, 4),
    "RGBX": (C.uint8, 4), "RGBa": (C.uint8, 4), "La": (C.uint8, 2), "I": (C.int32, 1), "F": (C.float32, 1),
    "I;16": (getattr(C, "uint16", C.int16), 1),
}  # fmt: skip


def pil(part="Image"):
    """A module of Pillow."""
    try:
        return __import__(f"PIL.{part}", fromlist=[part])
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Images are read, written and drawn by Pillow, which is not installed: pip install Pillow, or Debian's "
            "python3-pil. Tensors need no Pillow.",
            name="PIL",
        ) from None


def has_pil():
    try:
        return pil() is not None
    except ModuleNotFoundError:
        return False


def is_pil(image):
    """Whether the object is an image of Pillow, which nothing is before Pillow was imported."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(image, module.Image)


def is_array(image):
    """Whether the object is an array of numpy."""
    module = sys.modules.get("numpy")
    return module is not None and isinstance(image, module.ndarray)


def to_elements(image):
    """The elements of a Pillow image: [height, width, channels]."""
    if image.mode not in LAYOUTS:
        raise ValueError(f"images of mode {image.mode} have no tensor")
    dtype, channels = LAYOUTS[image.mode]
    width, height = image.size
    if width == 0 or height == 0:
        return C.empty(height, width, channels, dtype=dtype)
    if image.mode == "1":  # eight pixels in a byte
        return to_elements(image.convert("L")) != 0
    return C.frombuffer(bytearray(image.tobytes()), dtype=dtype).view(height, width, channels)


def from_elements(elements, mode):
    """The Pillow image with the elements [height, width] or [height, width, channels]."""
    height, width = elements.shape[:2]
    data = bytes_of(elements)
    if mode == "1":
        return pil().frombytes("L", (width, height), bytes(255 * (value != 0) for value in data)).convert("1")
    return pil().frombytes(mode, (width, height), data)


def bytes_of(tensor):
    """A copy of the tensor's elements, row by row."""
    tensor = tensor.detach().cpu().contiguous()
    return ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size()) if tensor.numel() else b""
