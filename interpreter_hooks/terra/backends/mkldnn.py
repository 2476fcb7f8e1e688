"""torch.backends.mkldnn: oneDNN is not part of Terra, whose kernels are its own; its switches are kept."""

from ._flags import switched

enabled = True
deterministic = False
allow_tf32 = True


def is_available():
    return False


def set_flags(_enabled=None, _deterministic=None, _allow_tf32=None):
    """Sets those that are given; gives the values before."""
    given = {"enabled": _enabled, "deterministic": _deterministic, "allow_tf32": _allow_tf32}
    before = tuple(globals()[name] for name in given)
    globals().update({name: value for name, value in given.items() if value is not None})
    return before


def flags(enabled=False, deterministic=False, allow_tf32=True):
    return switched(globals(), enabled=enabled, deterministic=deterministic, allow_tf32=allow_tf32)


class verbose:
    """A context that would print oneDNN's calls; there are none."""

    def __init__(self, level):
        self.level = level

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False
