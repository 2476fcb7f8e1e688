"""Random numbers as transforms draw them, and transforms that happen with a probability."""

import numbers

import _terra_C as C

from ... import nn
from . import functional as F


def uniform(low, high):
    """A number between the two."""
    return float(C.empty(1).uniform_(float(low), float(high)).item())


def integer(low, high):
    """A whole number from `low` to before `high`."""
    return int(C.randint(low, high, size=(1,)).item())


class Probable(nn.Module):
    """A change of the image that happens with probability p."""

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def changed(self, img):
        raise NotImplementedError

    def forward(self, img):
        return self.changed(img) if C.rand(1) < self.p else img

    def __repr__(self):
        return f"{type(self).__name__}(p={self.p})"


def pair_of(size, error_msg):
    """(height, width) of a number or a sequence."""
    if isinstance(size, numbers.Number):
        return int(size), int(size)
    if len(size) == 1:
        return size[0], size[0]
    if len(size) != 2:
        raise ValueError(error_msg)
    return size


def angles_of(value, name, lengths=(2,)):
    """A range of angles: of a number, that far to both sides."""
    if isinstance(value, numbers.Number):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be positive.")
        value = [-value, value]
    elif not isinstance(value, (list, tuple)):
        raise TypeError(f"{name} should be a sequence of length {' or '.join(map(str, lengths))}.")
    elif len(value) not in lengths:
        raise ValueError(f"{name} should be a sequence of length {' or '.join(map(str, lengths))}.")
    return [float(v) for v in value]


def fill_for(fill, img):
    """The fill value of a tensor: one float per channel; anything else as it is."""
    if not isinstance(img, C.Tensor):
        return fill
    if isinstance(fill, (int, float)):
        return [float(fill)] * F.get_image_num_channels(img)
    return None if fill is None else [float(f) for f in fill]


def checked_fill(fill):
    if fill is None:
        return 0
    if not isinstance(fill, (list, tuple, numbers.Number)):
        raise TypeError("Fill should be either a sequence or a number.")
    return fill
