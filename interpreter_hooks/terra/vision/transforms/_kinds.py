"""Between kinds of images: Pillow's, arrays [height, width, channels], tensors [channels, height, width]."""

import _terra_C as C

from .._pil import from_elements, is_array, is_pil, to_elements
from ._functional_tensor import convert_image_dtype as _converted


def _channels_first(elements):
    return elements.permute(2, 0, 1).contiguous()


def to_tensor(pic):
    """[channels, height, width], and 0..1 for images of bytes.

    A tensor has its channels first already: data sets give such images where Pillow is not installed."""
    if is_pil(pic):
        elements = to_elements(pic)
        return _scaled(_channels_first(elements.to(C.uint8) * 255 if pic.mode == "1" else elements))
    if is_array(pic):
        if pic.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
        tensor = C.from_numpy(pic.copy() if any(stride < 0 for stride in pic.strides) else pic)
        return _scaled(_channels_first(tensor.unsqueeze(2) if pic.ndim == 2 else tensor))
    if isinstance(pic, C.Tensor):
        if pic.dim() not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {pic.dim()} dimensions.")
        return _scaled(pic.unsqueeze(0) if pic.dim() == 2 else pic)
    raise TypeError(f"pic should be PIL Image or ndarray. Got {type(pic)}")


def _scaled(tensor):
    return tensor.to(C.get_default_dtype()).div(255) if tensor.dtype == C.uint8 else tensor


def pil_to_tensor(pic):
    """[channels, height, width] of the image's own numbers."""
    if not is_pil(pic):
        raise TypeError(f"pic should be PIL Image. Got {type(pic)}")
    return to_elements(pic).permute(2, 0, 1)


def convert_image_dtype(image, dtype=C.float32):
    """The same brightness in another dtype: integers count up to their largest, floats up to 1."""
    if not isinstance(image, C.Tensor):
        raise TypeError("Input img should be Tensor Image")
    return _converted(image, dtype)


# channels -> the modes that they may mean, the usual one first
_MODES = {2: ("LA",), 3: ("RGB", "YCbCr", "HSV"), 4: ("RGBA", "CMYK", "RGBX")}
_GRAY_MODES = {C.uint8: "L", C.int16: "I;16", C.int32: "I", C.float32: "F"}


def to_pil_image(pic, mode=None):
    """A Pillow image of a tensor [channels, height, width] or an array [height, width, channels]."""
    if is_array(pic):
        elements = C.from_numpy(pic)
        elements = elements.unsqueeze(2) if pic.ndim == 2 else elements
    elif isinstance(pic, C.Tensor):
        if pic.ndim not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
        if pic.is_floating_point() and mode != "F":
            pic = pic.mul(255).to(C.uint8)
        elements = (pic.unsqueeze(0) if pic.ndim == 2 else pic).permute(1, 2, 0)
    else:
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    if elements.ndim != 3:
        raise ValueError(f"pic should be 2/3 dimensional. Got {elements.ndim} dimensions.")
    channels = elements.shape[2]
    if channels > 4:
        raise ValueError(f"pic should not have > 4 channels. Got {channels} channels.")
    if channels == 1:
        usual = _GRAY_MODES.get(elements.dtype)
        if mode is not None and mode != usual:
            raise ValueError(f"Incorrect mode ({mode}) supplied for input type {elements.dtype}. Should be {usual}")
        if usual is None:
            raise TypeError(f"Input type {elements.dtype} is not supported")
        return from_elements(elements, usual)
    permitted = _MODES[channels]
    if mode is not None and mode not in permitted:
        raise ValueError(f"Only modes {permitted} are supported for {channels}D inputs")
    if elements.dtype != C.uint8:
        raise TypeError(f"Input type {elements.dtype} is not supported")
    return from_elements(elements, mode or permitted[0])
