"""Images between files, their bytes, and tensors [channels, height, width]."""

import enum
import io
import os

import _terra_C as C

from .._pil import bytes_of, pil, to_elements
from ..transforms.functional import to_pil_image

__all__ = [
    "ImageReadMode", "decode_image", "decode_jpeg", "decode_png", "encode_jpeg", "encode_png", "read_file",
    "read_image", "write_file", "write_jpeg", "write_png",
]  # fmt: skip


class ImageReadMode(enum.Enum):
    """What an image is turned into when it is read."""

    UNCHANGED = 0
    GRAY = 1
    GRAY_ALPHA = 2
    RGB = 3
    RGB_ALPHA = 4
    RGBA = 4


_PIL_MODES = {
    ImageReadMode.GRAY: "L",
    ImageReadMode.GRAY_ALPHA: "LA",
    ImageReadMode.RGB: "RGB",
    ImageReadMode.RGB_ALPHA: "RGBA",
}


def read_file(path):
    """The bytes of a file."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise RuntimeError(str(error)) from None
    return C.frombuffer(bytearray(data), dtype=C.uint8).clone() if data else C.empty(0, dtype=C.uint8)


def write_file(filename, data):
    with open(filename, "wb") as file:
        file.write(bytes_of(data))


def _decoded(data, mode, apply_exif_orientation, formats=None):
    if not isinstance(data, C.Tensor):
        raise RuntimeError(f"Expected a torch.uint8 tensor of the file's bytes, got {type(data).__name__}")
    if data.dtype != C.uint8 or data.dim() != 1 or data.numel() == 0:
        raise RuntimeError("Expected a non empty 1-dimensional tensor of torch.uint8")
    mode = ImageReadMode[mode.upper()] if isinstance(mode, str) else mode
    images = pil()
    try:
        image = images.open(io.BytesIO(bytes_of(data)), formats=formats)
        image.load()
    except images.UnidentifiedImageError:
        raise RuntimeError("Unsupported image file: its bytes are of no format that Pillow knows") from None
    except (OSError, SyntaxError) as error:
        raise RuntimeError(f"The image file is damaged: {error}") from None
    if apply_exif_orientation:
        image = pil("ImageOps").exif_transpose(image)
    wanted = _PIL_MODES.get(mode)
    if wanted is None and image.mode == "1":
        wanted = "L"
    if wanted is not None and image.mode != wanted:
        image = image.convert(wanted)
    return to_elements(image).permute(2, 0, 1).contiguous()


def decode_image(input, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    """The image in the bytes of a file, or in the file of that name."""
    data = read_file(input) if isinstance(input, (str, os.PathLike)) else input
    return _decoded(data, mode, apply_exif_orientation)


def read_image(path, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    return _decoded(read_file(path), mode, apply_exif_orientation)


def decode_png(input, mode=ImageReadMode.UNCHANGED, apply_exif_orientation=False):
    return _decoded(input, mode, apply_exif_orientation, formats=["PNG"])


def decode_jpeg(input, mode=ImageReadMode.UNCHANGED, device="cpu", apply_exif_orientation=False):
    if isinstance(input, (list, tuple)):
        return [decode_jpeg(data, mode, device, apply_exif_orientation) for data in input]
    return _decoded(input, mode, apply_exif_orientation, formats=["JPEG"])


def _encoded(image, name, **options):
    if image.dtype != C.uint8:
        raise RuntimeError("Input tensor dtype should be uint8")
    if image.dim() != 3:
        raise RuntimeError("Input data should be a 3-dimensional tensor")
    if image.size(0) not in (1, 3):
        raise RuntimeError(f"The number of channels should be 1 or 3, got: {image.size(0)}")
    out = io.BytesIO()
    to_pil_image(image).save(out, format=name, **options)
    return C.frombuffer(bytearray(out.getvalue()), dtype=C.uint8).clone()


def encode_png(input, compression_level=6):
    """The bytes of a PNG file."""
    if not 0 <= compression_level <= 9:
        raise RuntimeError("Compression level should be between 0 and 9")
    return _encoded(input, "PNG", compress_level=compression_level)


def encode_jpeg(input, quality=75):
    """The bytes of a JPEG file."""
    if not 1 <= quality <= 100:
        raise ValueError("Image quality should be a positive number between 1 and 100")
    if isinstance(input, (list, tuple)):
        return [encode_jpeg(image, quality) for image in input]
    return _encoded(input, "JPEG", quality=quality)


def write_png(input, filename, compression_level=6):
    write_file(filename, encode_png(input, compression_level))


def write_jpeg(input, filename, quality=75):
    write_file(filename, encode_jpeg(input, quality))
