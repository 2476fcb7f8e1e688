"""torch.backends.nnpack: there is none; its switch is kept."""

from ._flags import switched

enabled = False


def is_available():
    return False


def set_flags(_enabled):
    """Gives the value before."""
    before = (enabled,)
    globals()["enabled"] = bool(_enabled)
    return before


def flags(enabled=False):
    return switched(globals(), enabled=enabled)
