"""Groups of dtypes."""

import _terra_C as C

HALVES = (C.bfloat16, C.float16)  # the floats of 16 bits
