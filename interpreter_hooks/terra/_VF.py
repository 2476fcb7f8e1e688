"""torch._VF: functions of the top level, as PyTorch's own modules name them."""

import sys


def __getattr__(name):
    return getattr(sys.modules[__package__], name)
