"""The functions of transforms, with those that only the second form has."""

import _terra_C as C

from ..._pil import is_array, is_pil
from ..functional import *  # noqa: F403
from ..functional import __all__ as _first
from ..functional import convert_image_dtype, get_image_num_channels, get_image_size, hflip, pil_to_tensor, vflip

__all__ = [*_first, "get_num_channels", "get_size", "horizontal_flip", "to_dtype", "to_image", "vertical_flip"]

get_num_channels = get_image_num_channels
horizontal_flip = hflip
vertical_flip = vflip


def get_size(inpt):
    """[height, width]."""
    return get_image_size(inpt)[::-1]


def to_image(inpt):
    """A tensor [channels, height, width] of the same numbers."""
    if is_pil(inpt):
        return pil_to_tensor(inpt)
    if is_array(inpt):
        tensor = C.from_numpy(inpt)
        return (tensor.unsqueeze(2) if tensor.dim() == 2 else tensor).permute(2, 0, 1).contiguous()
    if isinstance(inpt, C.Tensor):
        return inpt
    raise TypeError(f"Input can either be a pure Tensor, a numpy array, or a PIL image, but got {type(inpt)} instead.")


def to_dtype(inpt, dtype=C.float32, scale=False):
    """In another dtype, with `scale` in its range of values."""
    return convert_image_dtype(inpt, dtype) if scale else inpt.to(dtype)
