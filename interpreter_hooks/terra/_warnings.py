"""Warnings that are given in several places: once in a process, however often there is a reason; of old names."""

import warnings

_told = set()


def warn_once(text, category=UserWarning, stacklevel=2):
    """Warns of what the caller's caller does, the first time that this text is given."""
    if text not in _told:
        _told.add(text)
        warnings.warn(text, category, stacklevel=stacklevel + 1)


def warn_of_old_name(old, new):
    """Warns of the call, by the caller's caller, of what has another name now."""
    warnings.warn(f"`{old}(args...)` is deprecated. Please use `{new}` instead.", FutureWarning, stacklevel=3)
