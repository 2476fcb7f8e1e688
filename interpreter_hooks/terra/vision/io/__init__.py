"""Image files as tensors [channels, height, width] of bytes, and back, by Pillow. Videos are not there."""

from ..._missing_parts import sentences
from .image import (
    ImageReadMode, decode_image, decode_jpeg, decode_png, encode_jpeg, encode_png, read_file, read_image, write_file,
    write_jpeg, write_png,
)  # fmt: skip

_MISSING = ("VideoReader", "read_video", "read_video_timestamps", "write_video")
globals().update(sentences("torchvision.io", _MISSING, "Terra reads and writes no videos"))

__all__ = [
    "ImageReadMode", "decode_image", "decode_jpeg", "decode_png", "encode_jpeg", "encode_png", "read_file",
    "read_image", "write_file", "write_jpeg", "write_png", *_MISSING,
]  # fmt: skip
