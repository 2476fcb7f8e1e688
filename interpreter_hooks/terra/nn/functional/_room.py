"""Whether there is room for a result, before the work that makes it."""

import math

import _terra_C as C

MANY = 1 << 24


def check_room(shape, dtype):
    """Raises at once what making a tensor of that shape would raise."""
    if math.prod(shape) > MANY:
        C.empty(shape, dtype=dtype)
